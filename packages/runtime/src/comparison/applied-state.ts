/**
 * Does a live object hold what is desired? Everything that answers this before a write is in this folder; {@link
 * AppliedState} is where to ask.
 *
 * - `applied-difference.ts` compares the fields that we own with those that we would apply, value by value;
 * - `stored-value.ts` knows what a server makes of a value that it is sent: defaults, zero values, quantities;
 * - `owned-part.ts` takes from a live value what a field set owns, or does not own;
 * - `applied-equality.ts` asks less: whether live has all of desired, whichever manager owns it.
 *
 * How an API server compares two versions of an object to find out who changed what is another question, which
 * structured merge in the schema package answers.
 */

import { createHash } from "node:crypto";
import { type FieldsV1, type Schema, stringifyJson } from "@konverge/core";
import { appliedDifference } from "./applied-difference.ts";
import { ownedPart } from "./owned-part.ts";

/** One apply, and what there is of it. */
export interface Applied {
  /** All that is sent. */
  readonly sent: unknown;
  /** The part of it that becomes owned fields. */
  readonly desired: unknown;
  readonly live: unknown;
  /** The fields that we own of the live value. */
  readonly fields: FieldsV1;
  readonly schema: Schema | undefined;
}

interface Remembered {
  readonly sent: string;
  readonly live: string;
}

/**
 * Decides what need not be applied: live is as desired, or the server returned exactly this for the same apply before.
 *
 * What servers made of what we applied is remembered where that is not what we asked for: admission may rewrite a
 * value, and kinds without a schema have defaults that we do not know. Applying the same again would get the same
 * answer, so as long as neither side has changed there is nothing to do. Without this, such a child costs a request in
 * every reconcile.
 */
export class AppliedState {
  readonly #remembered = new Map<string, Remembered>();

  isUpToDate(name: string, applied: Applied): boolean {
    if (!differs(applied)) return true;
    const known = this.#remembered.get(name);
    return known !== undefined && known.sent === digest(applied.sent) && known.live === digest(ownPart(applied));
  }

  /** Notes a server's answer to an apply. Undefined: it is not known what we own now. */
  answered(name: string, applied: Applied | undefined): void {
    if (!applied || !differs(applied)) this.forget(name);
    else this.#remembered.set(name, { sent: digest(applied.sent), live: digest(ownPart(applied)) });
  }

  forget(name: string): void {
    this.#remembered.delete(name);
  }
}

const differs = ({ fields, desired, live, schema }: Applied) =>
  appliedDifference(fields, desired, live, schema) !== undefined;

const ownPart = ({ fields, live, schema }: Applied) => ({ fields, part: ownedPart(fields, live, schema) });

const digest = (value: unknown) => createHash("sha1").update(stringifyJson(value)).digest("base64");
