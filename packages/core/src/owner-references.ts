import { apiVersionOf, type GroupVersionKind, groupKindText, type KindRef } from "./kind-ref.ts";
import { keyOf, type ObjectMeta, type OwnerReference } from "./object.ts";

/** An owner reference that the garbage collector would not resolve, or a second controller. */
export class OwnershipError extends Error {
  override readonly name = "OwnershipError";
  readonly code: "AnotherController" | "AnotherNamespace" | "ClusterScoped";

  constructor(code: OwnershipError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

type Owned = { metadata: Partial<ObjectMeta> };

/** An owner reference. By default it is the controller reference, and blocks the owner's foreground deletion. */
export function ownerReference(
  kind: GroupVersionKind,
  owner: { metadata: Pick<ObjectMeta, "name" | "uid"> },
  options: { controller?: boolean; blockOwnerDeletion?: boolean } = {},
): OwnerReference {
  const { name, uid } = owner.metadata;
  if (!uid) throw new TypeError(`${kind.kind} ${name} has no uid yet: only a stored object can own others`);
  const { controller = true, blockOwnerDeletion = controller } = options;
  return {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    name,
    uid,
    ...(controller && { controller }),
    ...(blockOwnerDeletion && { blockOwnerDeletion }),
  };
}

/** The reference to an object's controller, if it has one. */
export function controllerOf(object: Owned): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true);
}

/** Whether an object has this owner. Owners are compared by UID, because names can be reused. */
export function isOwnedBy(object: Owned, owner: { metadata: Pick<ObjectMeta, "uid"> }): boolean {
  const { uid } = owner.metadata;
  return uid !== undefined && (object.metadata.ownerReferences?.some((reference) => reference.uid === uid) ?? false);
}

/** Whether this owner is the controller of an object. */
export function isControlledBy(object: Owned, owner: { metadata: Pick<ObjectMeta, "uid"> }): boolean {
  return owner.metadata.uid !== undefined && controllerOf(object)?.uid === owner.metadata.uid;
}

/**
 * The object's owner references with one added, or renewed if its uid was there. Throws an {@link OwnershipError} where
 * it would become a second controller, which a server refuses.
 */
export function withOwnerReference(object: Owned, reference: OwnerReference): OwnerReference[] {
  const present = object.metadata.ownerReferences ?? [];
  const controller = controllerOf(object);
  if (reference.controller && controller && controller.uid !== reference.uid) {
    const { name = "", namespace } = object.metadata;
    throw new OwnershipError(
      "AnotherController",
      `${keyOf({ metadata: { name, ...(namespace && { namespace }) } })} already has a controller, ` +
        `${controller.kind} ${controller.name} (uid ${controller.uid}), and cannot have ${reference.kind} ${reference.name} as well`,
    );
  }
  const isKnown = present.some(({ uid }) => uid === reference.uid);
  if (!isKnown) return [...present, reference];
  return present.map((known) => (known.uid === reference.uid ? { ...known, ...reference } : known));
}

/** A kind and the place of one of its objects. */
export interface Placed {
  kind: Pick<KindRef, "group" | "kind" | "namespaced">;
  name: string;
  namespace?: string | undefined;
}

/**
 * Throws an {@link OwnershipError} if the garbage collector would not find the owner: one in a namespace can own only
 * what is in the same namespace. The collector takes any other for an orphan, and deletes it.
 */
export function checkOwnership(owner: Placed, owned: Placed): void {
  if (!owner.kind.namespaced) return;
  const who = `${groupKindText(owner.kind)} ${owner.namespace}/${owner.name}`;
  if (!owned.kind.namespaced) {
    throw new OwnershipError(
      "ClusterScoped",
      `${who} cannot own ${groupKindText(owned.kind)} ${owned.name}: it is cluster-scoped, and an object in a namespace ` +
        "can own only what is in the same namespace",
    );
  }
  if (owned.namespace !== owner.namespace) {
    throw new OwnershipError(
      "AnotherNamespace",
      `${who} cannot own ${groupKindText(owned.kind)} ${owned.namespace}/${owned.name}: it is in another namespace`,
    );
  }
}
