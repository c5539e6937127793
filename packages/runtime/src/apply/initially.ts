import { type FieldsV1, isObject, type JsonObject, type KubeObject } from "@konverge/core";

/** A draft with its initial fields. */
export function withInitial(draft: KubeObject, initially: object | undefined): KubeObject {
  return initially ? (merged(draft as unknown as JsonObject, initially as JsonObject) as unknown as KubeObject) : draft;
}

/**
 * Of the fields that a child had in the beginning, those that are still ours, with the values they have now: to leave
 * them out would remove them. A client that changes such a field owns it from then on, and the controller ignores it.
 */
export function stillInitial(initially: object, fields: FieldsV1 | undefined, live: unknown): JsonObject | undefined {
  if (!fields || !isObject(live)) return undefined;
  const kept: JsonObject = {};
  for (const [name, value] of Object.entries(initially)) {
    const own = fields[`f:${name}`];
    if (!own || live[name] === undefined) continue;
    const part = isObject(value) ? stillInitial(value, own, live[name]) : live[name];
    if (part !== undefined) kept[name] = part;
  }
  return Object.keys(kept).length > 0 ? kept : undefined;
}

function merged(base: JsonObject, over: JsonObject): JsonObject {
  const result = { ...base };
  for (const [name, value] of Object.entries(over)) {
    const below = result[name];
    result[name] = isObject(below) && isObject(value) ? merged(below, value) : value;
  }
  return result;
}
