import type { WorkingObject } from "./working-object.ts";

/** An empty list of managedFields is no list to Go's writer, but to the field manager it is the request to forget them. */
export function keepReset(object: WorkingObject, value: unknown): WorkingObject {
  const given = (value as { metadata?: { managedFields?: unknown } } | null)?.metadata?.managedFields;
  if (Array.isArray(given) && given.length === 0) object.metadata.managedFields = [];
  return object;
}
