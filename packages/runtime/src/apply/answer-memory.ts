import { createHash } from "node:crypto";
import { type ObjectKey, stringifyJson } from "@konverge/core";

interface Remembered {
  readonly desired: string;
  readonly live: string;
}

/**
 * What servers made of what we applied, where that is not what we asked for: admission may rewrite a value, and kinds
 * without a schema have defaults that we do not know. Applying the same again would get the same answer, so as long as
 * neither side has changed there is nothing to do. Without this, such a child costs a request in every reconcile.
 */
export class AnswerMemory {
  readonly #remembered = new Map<ObjectKey, Remembered>();

  /** True if applying `desired` has already led to `live`. */
  knows(name: string, desired: unknown, live: unknown): boolean {
    const known = this.#remembered.get(name);
    return known !== undefined && known.desired === digest(desired) && known.live === digest(live);
  }

  remember(name: string, desired: unknown, live: unknown): void {
    this.#remembered.set(name, { desired: digest(desired), live: digest(live) });
  }

  forget(name: string): void {
    this.#remembered.delete(name);
  }
}

const digest = (value: unknown) => createHash("sha1").update(stringifyJson(value)).digest("base64");
