import type { Client } from "@konverge/client";
import {
  type AnyObject,
  checkOwnership,
  isControlledBy,
  type KindRef,
  type KubeObject,
  keyOf,
  type ObjectKey,
  ownerReference,
  withOwnerReference,
} from "@konverge/core";
import { ExternalError } from "../errors.ts";

/** An object and its kind: owner references need both. */
export interface OwnerObject<T extends KubeObject = KubeObject> {
  readonly kind: KindRef<T>;
  readonly object: T;
}

/**
 * Sets the owner of an existing object: for objects that a reconciler does not return as children. Owners are compared
 * by UID. An owner that is deleted or terminating adopts nothing; an object that already has a controller fails with an
 * OwnershipError. Fails with a conflict if another client writes at the same time.
 */
export async function adoptObject<T extends KubeObject>(
  client: Client,
  kind: KindRef<T>,
  key: ObjectKey,
  owner: OwnerObject,
): Promise<T> {
  const live = await client.get(kind, key);
  if (isControlledBy(live, owner.object)) return live;
  const reference = withOwnerReference(live, ownerReference(owner.kind, owner.object));
  const { uid, name } = owner.object.metadata;
  checkOwnership(
    { kind: owner.kind, ...owner.object.metadata },
    { kind: kind as KindRef<KubeObject>, ...live.metadata },
  );
  const current = await client.get(owner.kind, keyOf(owner.object));
  if (current.metadata.uid !== uid || current.metadata.deletionTimestamp) {
    throw new ExternalError(
      "OwnerGone",
      `${owner.kind.kind} ${name} is deleted or terminating, so it cannot adopt objects`,
    );
  }
  return setOwners(client, kind, live, reference);
}

/**
 * Removes the owner from an object, so that it stays when the owner is deleted. Does nothing if the object has another
 * owner.
 */
export async function releaseObject<T extends KubeObject>(
  client: Client,
  kind: KindRef<T>,
  key: ObjectKey,
  owner: { metadata: { uid?: string } },
): Promise<T> {
  const live = await client.get(kind, key);
  const { ownerReferences = [] } = live.metadata;
  const others = ownerReferences.filter(({ uid }) => uid !== owner.metadata.uid);
  return others.length === ownerReferences.length ? live : setOwners(client, kind, live, others);
}

async function setOwners<T extends KubeObject>(client: Client, kind: KindRef<T>, live: T, ownerReferences: object[]) {
  const { uid, resourceVersion } = live.metadata;
  const merge = { metadata: { uid, resourceVersion, ownerReferences } };
  const patched = await client.patch(kind as KindRef<KubeObject> as KindRef<AnyObject>, keyOf(live), {
    merge,
  } as never);
  return patched as unknown as T;
}
