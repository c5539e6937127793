import type { ManagedFieldsEntry } from "@konverge/core";
import { difference, fromPaths, has, isEmpty } from "./field-set.ts";
import { decodeManagers, encodeManagers, type Managers } from "./managers.ts";
import type { FieldPath } from "./path-element.ts";

const SCALE_VERSION = "autoscaling/v1";
const REPLICAS_IN_SCALE: FieldPath = ["f:spec", "f:replicas"];

/** Where replicas are in each version of a kind; null for a version without a scale subresource. */
export type ReplicasPaths = Readonly<Record<string, FieldPath | null>>;

/**
 * The managedFields of a Scale, from those of the object that it scales: the manager that owns the object's replicas
 * owns the Scale's.
 */
export function scaleManagedFields(
  parent: readonly ManagedFieldsEntry[] | undefined,
  replicas: ReplicasPaths,
): ManagedFieldsEntry[] | undefined {
  const scale: Managers = new Map();
  for (const [id, owned] of decodeManagers(parent)) {
    const path = replicas[owned.apiVersion];
    if (path && has(owned.set, path)) {
      scale.set(id, { ...owned, set: fromPaths(REPLICAS_IN_SCALE), apiVersion: SCALE_VERSION });
    }
  }
  return encodeManagers(scale);
}

/**
 * The managedFields of an object after its Scale has been written: a manager that lost the Scale's replicas loses the
 * object's, and one that gained them gains those. `apiVersion` is the version through which the Scale was written.
 * Entries in versions that are not in `replicas` are dropped.
 */
export function parentManagedFields(
  parent: readonly ManagedFieldsEntry[] | undefined,
  scale: readonly ManagedFieldsEntry[] | undefined,
  apiVersion: string,
  replicas: ReplicasPaths,
): ManagedFieldsEntry[] | undefined {
  const before = decodeManagers(parent);
  const scaleManagers = decodeManagers(scale);
  const after: Managers = new Map();
  for (const [id, owned] of before) {
    const path = replicas[owned.apiVersion];
    if (path === undefined) continue;
    if (path === null || !has(owned.set, path) || scaleManagers.delete(id)) {
      after.set(id, owned);
    } else {
      const set = difference(owned.set, fromPaths(path));
      if (!isEmpty(set)) after.set(id, { ...owned, set });
    }
  }
  const ownPath = replicas[apiVersion] ?? [];
  for (const [id, owned] of scaleManagers) {
    if (has(owned.set, REPLICAS_IN_SCALE)) {
      after.set(id, { ...owned, set: fromPaths(ownPath), apiVersion, time: before.get(id)?.time });
    }
  }
  return encodeManagers(after);
}
