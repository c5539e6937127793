import { deepEqual, isObject, type JsonObject, type ManagedFieldsEntry } from "@konverge/core";

/**
 * A write that changes nothing but times in managedFields changes nothing: `next` then gets the times of `live` back, so
 * that storing it is a no-op and resourceVersion stays. To be called last, on objects as they would be stored: only
 * defaulting and normalizing show that an apply of `1000m` over `1` was none.
 */
export function keepTimesOfNoop(live: JsonObject, next: JsonObject): JsonObject {
  const before = entriesOf(live);
  const after = entriesOf(next);
  if (before.length !== after.length || after.length === 0) return next;
  if (after.every((entry, i) => entry.time === before[i]!.time)) return next;
  for (const [i, entry] of after.entries()) {
    if (!deepEqual({ ...entry, time: undefined }, { ...before[i], time: undefined })) return next;
  }
  const restored = withEntries(next, before);
  return deepEqual(live, restored) ? restored : next;
}

function entriesOf(object: JsonObject): ManagedFieldsEntry[] {
  const { metadata } = object;
  const entries = isObject(metadata) ? metadata["managedFields"] : undefined;
  return Array.isArray(entries) ? entries : [];
}

function withEntries(object: JsonObject, managedFields: ManagedFieldsEntry[]): JsonObject {
  return { ...object, metadata: { ...(object["metadata"] as JsonObject), managedFields } };
}
