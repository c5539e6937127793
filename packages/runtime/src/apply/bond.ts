import {
  checkOwnership,
  controllerOf,
  groupKindText,
  type KindRef,
  type KubeObject,
  keyOf,
  type ObjectKey,
  type ObjectMeta,
  OwnershipError,
  ownerReference,
  type Placed,
  parseApiVersion,
} from "@konverge/core";
import type { IndexFunction } from "../cache/indexes.ts";
import { PermanentError } from "../errors.ts";

/** Labels and annotations by which children are known that an owner reference cannot reach. */
const OWNER_UID = "konverge.dev/owner-uid";
const OWNER = "konverge.dev/owner";

/** How a child says whose it is. */
export interface Bond {
  /** The metadata that makes a draft the owner's. */
  metadata(owner: KubeObject): Partial<ObjectMeta>;
  /** Throws if this bond cannot hold between the two. */
  check(owner: KubeObject, child: Placed): void;
  /** The uid of the owner, if the object has one of this sort. */
  ownerUid(child: KubeObject): string | undefined;
  /** The same for an index. One function for all bonds of a sort: they share the index. */
  readonly ownerUids: IndexFunction<KubeObject>;
  /** The key of the owner, if it is of the owner's kind. */
  ownerKey(child: KubeObject): ObjectKey | undefined;
}

const controllerUid = (child: KubeObject) => controllerOf(child)?.uid;
const labelledUid = (child: KubeObject) => child.metadata.labels?.[OWNER_UID];
const listed = (uid: string | undefined) => (uid === undefined ? [] : [uid]);
const controllerUids = (child: KubeObject) => listed(controllerUid(child));
const labelledUids = (child: KubeObject) => listed(labelledUid(child));

/** An owner reference: the garbage collector removes the child with its owner. */
export function referenceBond(ownerKind: KindRef<KubeObject>): Bond {
  return {
    metadata: (owner) => ({ ownerReferences: [ownerReference(ownerKind, owner)] }),
    check(owner, child) {
      try {
        checkOwnership({ kind: ownerKind, ...owner.metadata }, child);
      } catch (cause) {
        if (!(cause instanceof OwnershipError)) throw cause;
        const advice = `declare it as ownedKind(${child.kind.kind}, { by: "label" }), or leave it to cleanup`;
        throw new PermanentError("InvalidChild", `${cause.message}: ${advice}`, { cause });
      }
    },
    ownerUid: controllerUid,
    ownerUids: controllerUids,
    ownerKey(child) {
      const owner = controllerOf(child);
      if (owner?.kind !== ownerKind.kind || parseApiVersion(owner.apiVersion).group !== ownerKind.group)
        return undefined;
      return ownerKind.namespaced ? `${child.metadata.namespace}/${owner.name}` : owner.name;
    },
  };
}

/** A label with the owner's uid, and an annotation with its kind and key. */
export function labelBond(ownerKind: KindRef<KubeObject>): Bond {
  const kindText = groupKindText(ownerKind);
  return {
    metadata: (owner) => ({
      labels: { [OWNER_UID]: owner.metadata.uid! },
      annotations: { [OWNER]: `${kindText} ${keyOf(owner)}` },
    }),
    check() {},
    ownerUid: labelledUid,
    ownerUids: labelledUids,
    ownerKey(child) {
      const [kind, key] = child.metadata.annotations?.[OWNER]?.split(" ") ?? [];
      return kind === kindText ? key : undefined;
    },
  };
}
