import {
  controllerOf,
  isNotFound,
  type KindRef,
  type KubeObject,
  keyOf,
  type LabelSelector,
  ownerReference,
  selectsLabels,
} from "@konverge/core";
import { type Predicate, type ReconcileContext, type WatchedKind, watchKind } from "@konverge/runtime";
import { isEmptySelector, type SelectorIndex } from "./selector-index.ts";

/** The index under which children are found by the uid of their controller, and those without one by their namespace. */
const BY_CONTROLLER = "controller";

/**
 * Watches a kind of children, whatever created them: their changes lead to their controller, or to those that select them
 * if they have none. `when` leaves out changes that make no difference to these.
 */
export function watchChildren<C extends KubeObject, T extends KubeObject>(
  kind: KindRef<C>,
  owner: KindRef<T>,
  selectors: SelectorIndex<T>,
  when?: Predicate<C>,
): WatchedKind<T> {
  return watchKind<C, T>(kind, {
    ...(when && { when }),
    indexes: {
      [BY_CONTROLLER]: (child) => [controllerOf(child)?.uid ?? orphansOf(child.metadata.namespace)],
    },
    to(child) {
      const controller = controllerOf(child);
      if (!controller) return selectors.matching(child);
      if (controller.kind !== owner.kind || !controller.apiVersion.startsWith(owner.group)) return [];
      return [`${child.metadata.namespace}/${controller.name}`];
    },
  });
}

const orphansOf = (namespace: string | undefined) => `orphans in ${namespace}`;

/** The children of which an object is the controller, whether it still selects them or not. */
export function childrenOf<C extends KubeObject>(
  { cache }: ReconcileContext,
  kind: KindRef<C>,
  owner: KubeObject,
): C[] {
  return cache.find(kind, BY_CONTROLLER, owner.metadata.uid!);
}

/**
 * The children of an object: those it controls and selects. One that it no longer selects is released; one that it selects
 * and that has no controller is adopted, after a live read of the object itself.
 */
export async function claimChildren<C extends KubeObject, T extends KubeObject>(
  context: ReconcileContext,
  { kind, ownerKind, owner, selector, mayAdopt = () => true }: Claim<C, T>,
): Promise<C[]> {
  const { cache, client } = context;
  const claimed: C[] = [];
  for (const child of childrenOf(context, kind, owner)) {
    if (selectsLabels(selector, child.metadata.labels)) claimed.push(child);
    else if (!child.metadata.deletionTimestamp) await release(context, kind, child, owner);
  }
  if (isEmptySelector(selector)) return claimed;
  let isWanted: boolean | undefined;
  for (const child of cache.find(kind, BY_CONTROLLER, orphansOf(owner.metadata.namespace))) {
    if (child.metadata.deletionTimestamp || !mayAdopt(child)) continue;
    if (!selectsLabels(selector, child.metadata.labels)) continue;
    isWanted ??= await isStillWanted(context, ownerKind, owner);
    if (!isWanted) break;
    const ownerReferences = [ownerReference(ownerKind, owner)];
    const { uid } = child.metadata;
    const patch = { metadata: { uid, ownerReferences } };
    // Direct writes: pods are adopted and released by their labels, whatever their names.
    claimed.push(await client.patch(kind, keyOf(child), { strategic: patch as never }));
  }
  return claimed;
}

export interface Claim<C extends KubeObject, T extends KubeObject> {
  kind: KindRef<C>;
  ownerKind: KindRef<T>;
  owner: T;
  selector: LabelSelector;
  /** Further conditions for adopting a child. */
  mayAdopt?: (child: C) => boolean;
}

async function isStillWanted<T extends KubeObject>(
  { client }: ReconcileContext,
  kind: KindRef<T>,
  owner: T,
): Promise<boolean> {
  try {
    const { metadata } = await client.get(kind, keyOf(owner));
    return metadata.uid === owner.metadata.uid && metadata.deletionTimestamp === undefined;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

async function release<C extends KubeObject>(
  { client }: ReconcileContext,
  kind: KindRef<C>,
  child: C,
  owner: KubeObject,
): Promise<void> {
  const { uid } = child.metadata;
  const ownerReferences = [{ $patch: "delete", uid: owner.metadata.uid }];
  try {
    await client.patch(kind, keyOf(child), { strategic: { metadata: { uid, ownerReferences } } as never });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
