import { deepEqual, type KubeObject } from "@konverge/core";
import type { CacheChange } from "../cache/change.ts";

/**
 * Decides whether a change causes a reconcile. It must not filter out changes that `reconcile` depends on.
 */
export type Predicate<T extends KubeObject = KubeObject> = (change: CacheChange<T>) => boolean;

/** The generation has changed, which the server increments with the spec. Also creations, deletions and the start of a deletion. */
export const generationChanged: Predicate = ({ type, object, before }) =>
  type !== "changed" ||
  !before ||
  object.metadata.generation !== before.metadata.generation ||
  object.metadata.deletionTimestamp !== before.metadata.deletionTimestamp;

/** The labels have changed. */
export const labelsChanged: Predicate = ({ object, before }) =>
  !before || !deepEqual(object.metadata.labels, before.metadata.labels);

/** The annotations have changed. */
export const annotationsChanged: Predicate = ({ object, before }) =>
  !before || !deepEqual(object.metadata.annotations, before.metadata.annotations);

/** The value that `pick` returns has changed: `valueChanged((pod: Pod) => pod.status?.phase)`. */
export function valueChanged<T extends KubeObject>(pick: (object: T) => unknown): Predicate<T> {
  return ({ type, object, before }) => type !== "changed" || !before || !deepEqual(pick(object), pick(before));
}

/** True if at least one of them is. */
export function anyPredicate<T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (change) => predicates.some((predicate) => predicate(change));
}

/** True if all of them are. */
export function allPredicates<T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (change) => predicates.every((predicate) => predicate(change));
}
