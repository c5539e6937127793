import { deepEqual, type KindRef, type KubeObject } from "@konverge/core";
import type { ReconcileContext } from "../definition/definition.ts";
import { differing, type JsonDifference } from "../json-diff.ts";
import { KeptAnnotation } from "./kept-annotation.ts";

/** The current value of a field, and the value that was handled last. */
export interface FieldChange<V> {
  readonly old: V | undefined;
  readonly now: V | undefined;
  /** The differences, path by path. */
  readonly diff: readonly JsonDifference[];
}

/** Options of {@link fieldChanges}. */
export interface FieldChangesOptions<T extends KubeObject, V> {
  /** Part of the name of the annotation that stores the last value. */
  name: string;
  /** The value to track: JSON, and small. */
  of: (object: T) => V | undefined;
  /** Also handle the first value, with an undefined `old`. Default: false, it is only stored. */
  initial?: boolean;
}

/** Created by {@link fieldChanges}: called from `reconcile`. */
export interface FieldChanges<T extends KubeObject, V> {
  /** Calls `handle` if the field has changed since its last change was handled. Resolves to whether it has. */
  follow(
    object: T,
    context: ReconcileContext,
    handle: (change: FieldChange<V>) => Promise<void> | void,
  ): Promise<boolean>;
}

/**
 * Tracks changes of a field, with the old value:
 *
 * ```ts
 * const version = fieldChanges(Database, { name: "version", of: ({ spec }) => spec.version });
 *
 * reconcile: async (database, context) => {
 *   await version.follow(database, context, ({ old, now }) => migrate(database, old, now));
 *   …
 * }
 * ```
 *
 * Guarantees
 * - Every value that lasts is handled at least once, also after a restart: it is stored in an annotation of the object
 *   after `handle` has succeeded.
 * - Intermediate values can be skipped: a field that changed twice is handled once, and a field that changed back is
 *   not handled.
 */
export function fieldChanges<T extends KubeObject, V>(
  kind: KindRef<T>,
  { name, of, initial = false }: FieldChangesOptions<T, V>,
): FieldChanges<T, V> {
  const kept = new KeptAnnotation<{ value?: V }>(kind as KindRef<KubeObject>, `last-${name}`);
  return {
    async follow(object, context, handle) {
      const now = of(object);
      const before = kept.read(object);
      const value = now === undefined ? {} : { value: now };
      if (before && deepEqual(before.value, now)) return false;
      const isHandled = before !== undefined || initial;
      if (isHandled) await handle({ old: before?.value, now, diff: differing(before?.value, now) });
      await kept.write(object, value, context);
      return isHandled;
    },
  };
}
