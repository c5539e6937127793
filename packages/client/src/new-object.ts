import { apiVersionOf, type KindRef, type KubeObject, type ObjectMeta } from "@konverge/core";
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
