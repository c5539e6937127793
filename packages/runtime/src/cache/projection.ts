import type { KubeObject } from "@konverge/core";

/** Selects the objects to keep in full. */
export type Interest<T extends KubeObject = KubeObject> = (object: T) => boolean;

/** The object without managedFields, which can be half of it. */
export function withoutManagedFields<T extends KubeObject>(object: T): T {
  if (!object.metadata.managedFields) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/**
 * What is kept of an object that will not be read: that it exists, whose it is and how old the knowledge is. An operator
 * that owns some ConfigMaps sees all of them go by; this is what the others cost.
 */
export function stubOf<T extends KubeObject>({ apiVersion, kind, metadata }: T): T {
  const { name, namespace, uid, resourceVersion, ownerReferences, deletionTimestamp } = metadata;
  const kept = { name, namespace, uid, resourceVersion, ownerReferences, deletionTimestamp };
  return { apiVersion, kind, metadata: kept } as unknown as T;
}
