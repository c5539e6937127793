import { deepEqual, type KubeObject } from "@konverge/core";
import type { CacheChange } from "../cache/change.ts";

/**
 * Says whether a change is worth a look. What it turns away is not looked at until something else happens, so it must
 * not turn away what `reconcile` depends on.
 */
export type Predicate<T extends KubeObject = KubeObject> = (change: CacheChange<T>) => boolean;

/** The spec has changed: the server counts generations of it. Additions and deletions, too, and the wish to delete. */
export const generationChanged: Predicate = ({ type, object, before }) =>
  type !== "changed" ||
  !before ||
  object.metadata.generation !== before.metadata.generation ||
  object.metadata.deletionTimestamp !== before.metadata.deletionTimestamp;

export const labelsChanged: Predicate = ({ object, before }) =>
  !before || !deepEqual(object.metadata.labels, before.metadata.labels);

export const annotationsChanged: Predicate = ({ object, before }) =>
  !before || !deepEqual(object.metadata.annotations, before.metadata.annotations);

/** What `pick` takes from the object has changed: `valueChanged((pod: Pod) => pod.status?.phase)`. */
export function valueChanged<T extends KubeObject>(pick: (object: T) => unknown): Predicate<T> {
  return ({ type, object, before }) => type !== "changed" || !before || !deepEqual(pick(object), pick(before));
}

/** One of them says yes. */
export function anyPredicate<T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (change) => predicates.some((predicate) => predicate(change));
}

/** All of them say yes. */
export function allPredicates<T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (change) => predicates.every((predicate) => predicate(change));
}
