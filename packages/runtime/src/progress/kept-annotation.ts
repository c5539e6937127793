import { type AnyObject, type KindRef, type KubeObject, keyOf, parseJson, stringifyJson } from "@konverge/core";
import type { ReconcileContext } from "../definition/definition.ts";
import { PermanentError } from "../errors.ts";

/** All annotations of an object together may have 256 KiB. */
const LARGEST = 64 * 1024;

/**
 * Something that is kept with an object, in an annotation, so that it outlives the process. It is written to this very
 * object, never to a later one of the same name.
 */
export class KeptAnnotation<V> {
  readonly #kind: KindRef<AnyObject>;
  readonly #name: string;

  constructor(kind: KindRef<KubeObject>, name: string) {
    if (!/^[a-z0-9]([-a-z0-9]{0,48}[a-z0-9])?$/.test(name)) {
      throw new TypeError(
        `${JSON.stringify(name)} cannot be part of an annotation's name: use lowercase letters and dashes`,
      );
    }
    this.#kind = kind as KindRef<AnyObject>;
    this.#name = `konverge.dev/${name}`;
  }

  /** Undefined if nothing is kept, or nothing that can be read. */
  read({ metadata }: KubeObject): V | undefined {
    const text = metadata.annotations?.[this.#name];
    if (text === undefined) return undefined;
    try {
      return parseJson(text) as V;
    } catch {
      return undefined;
    }
  }

  async write(object: KubeObject, value: V, { client }: ReconcileContext): Promise<void> {
    const text = stringifyJson(value);
    if (text.length > LARGEST) {
      throw new PermanentError(
        "TooLarge",
        `${this.#name} would have ${text.length} bytes: keep less of the object in it`,
      );
    }
    const merge = { metadata: { uid: object.metadata.uid, annotations: { [this.#name]: text } } };
    await client.patch(this.#kind, keyOf(object), { merge });
  }
}
