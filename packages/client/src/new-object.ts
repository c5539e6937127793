import {
  apiVersionOf,
  type KindRef,
  type KubeObject,
  kindOfMade,
  type MadeByKind,
  type ObjectMeta,
} from "@konverge/core";
import type { DeepPartial } from "./patch.ts";

/** An object to create: `apiVersion` and `kind` follow from the kind, and the server fills in the rest. */
export type NewObject<T extends KubeObject> = Omit<T, "apiVersion" | "kind" | "metadata"> & {
  apiVersion?: string;
  kind?: string;
  metadata: Partial<ObjectMeta>;
};

/** The fields that an apply sets. */
export type AppliedObject<T extends KubeObject> = DeepPartial<Omit<T, "apiVersion" | "kind" | "metadata">> & {
  apiVersion?: string;
  kind?: string;
  metadata: Partial<ObjectMeta>;
};

/** The object with the kind's apiVersion and kind; throws if it says it is something else. */
export function named(kind: KindRef<KubeObject>, object: object): object {
  const apiVersion = apiVersionOf(kind);
  const given = object as Partial<KubeObject>;
  if ((given.apiVersion ?? apiVersion) !== apiVersion || (given.kind ?? kind.kind) !== kind.kind) {
    throw new TypeError(`expected an object of ${apiVersion} ${kind.kind}, got ${given.apiVersion} ${given.kind}`);
  }
  return given.apiVersion && given.kind ? object : { apiVersion, kind: kind.kind, ...object };
}

/** How verbs take an object to write: with its kind before it, or one that its kind has made. */
export type ObjectArguments<O, Options> =
  | readonly [kind: KindRef<KubeObject>, object: O, options?: Options]
  | readonly [object: MadeByKind<KubeObject>, options?: Options];

/** Kind, object and options of a verb; throws if an object without a kind was not made by one. */
export function objectArguments<O extends object, Options>(
  verb: string,
  given: ObjectArguments<O, Options>,
): { kind: KindRef<KubeObject>; object: O; options: Options | undefined } {
  const [first, second, third] = given;
  if ("plural" in first) return { kind: first, object: second as O, options: third };
  const kind = kindOfMade(first);
  if (!kind) {
    throw new TypeError(
      `${verb}: the object does not know its kind, because it is a copy, or was not made by one: name the kind first, as in ${verb}(Kind, object)`,
    );
  }
  return { kind, object: first as unknown as O, options: second as Options | undefined };
}
