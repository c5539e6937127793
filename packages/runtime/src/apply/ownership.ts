import {
  apiVersionOf,
  groupKindText,
  type KindRef,
  type KubeObject,
  keyOf,
  type ObjectMeta,
  type OwnerReference,
} from "@konverge/core";
import { PermanentError } from "../controller/errors.ts";

/** The reference by which an object becomes its owner's: the garbage collector removes it with its owner. */
export function ownerReference(kind: KindRef<KubeObject>, owner: KubeObject): OwnerReference {
  return {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid!,
    controller: true,
    blockOwnerDeletion: true,
  };
}

/** The reference to the controller of an object, if it has one. */
export function controllerOf(object: { metadata: Partial<ObjectMeta> }): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller);
}

/**
 * Throws if the garbage collector would not understand the ownership: an owner in a namespace can own only what is in the
 * same namespace. The collector takes such an owner for absent, and deletes the child.
 */
export function checkOwnable(owner: KubeObject, ownerKind: KindRef<KubeObject>, child: ChildPlace): void {
  if (!ownerKind.namespaced) return;
  const { namespace } = owner.metadata;
  const who = `${ownerKind.kind} ${keyOf(owner)}`;
  if (!child.kind.namespaced) {
    throw new PermanentError(
      "InvalidChild",
      `${who} cannot own ${groupKindText(child.kind)} ${child.name}: it is cluster-scoped, and an object in a namespace ` +
        "can own only what is in the same namespace",
    );
  }
  if (child.namespace !== namespace) {
    throw new PermanentError(
      "InvalidChild",
      `${who} cannot own ${groupKindText(child.kind)} ${child.namespace}/${child.name}: it is in another namespace`,
    );
  }
}

export interface ChildPlace {
  kind: KindRef<KubeObject>;
  namespace: string | undefined;
  name: string;
}
