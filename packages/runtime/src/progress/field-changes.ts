import { deepEqual, type KindRef, type KubeObject } from "@konverge/core";
import type { ReconcileContext } from "../definition/definition.ts";
import { differing, type JsonDifference } from "../json-diff.ts";
import { KeptAnnotation } from "./kept-annotation.ts";

/** How a field is now, and how it was when its last change was dealt with. */
export interface FieldChange<V> {
  readonly old: V | undefined;
  readonly now: V | undefined;
  /** What differs, place by place. */
  readonly diff: readonly JsonDifference[];
}

export interface FieldChangesOptions<T extends KubeObject, V> {
  /** One word that tells it from others: part of an annotation's name. */
  name: string;
  /** The part of the object to follow: JSON, and not much of it. */
  of: (object: T) => V | undefined;
  /** Also tell of the first value, with an `old` that is undefined. Default: false, it is only noted. */
  initial?: boolean;
}

/** Made by {@link fieldChanges}: called from `reconcile`. */
export interface FieldChanges<T extends KubeObject, V> {
  /** Calls `handle` if the field has changed since it was last dealt with. Resolves to whether it had. */
  follow(
    object: T,
    context: ReconcileContext,
    handle: (change: FieldChange<V>) => Promise<void> | void,
  ): Promise<boolean>;
}

/**
 * Follows a field of an object with the old value at hand:
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
 * - Every state that stays is dealt with at least once, also after a restart: the value is kept with the object, in an
 *   annotation, when `handle` has succeeded, and not before.
 * - States in between may be passed over: a field that changed twice is told of once, and one that changed back not at all.
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
      const isTold = before !== undefined || initial;
      if (isTold) await handle({ old: before?.value, now, diff: differing(before?.value, now) });
      await kept.write(object, value, context);
      return isTold;
    },
  };
}
