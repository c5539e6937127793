import {
  deepEqual,
  isObject,
  type JsonObject,
  parseDuration,
  parseQuantity,
  type Quantity,
  type Schema,
} from "@konverge/core";

/**
 * Whether the live object already holds everything that `desired` says, so that applying it would change nothing.
 *
 * What desired does not mention is not looked at: defaults, and fields that belong to others. What it mentions is compared
 * as a server would store it: null and empty lists are nothing and, as far as the schema tells, empty maps too; quantities,
 * durations and times are compared by value, lists with keys and sets regardless of order, and a value that the server
 * omits (a false flag) or fills in (a port's protocol) is not missed. Without a schema, lists are compared in order.
 *
 * It cannot see a field that was applied earlier and is no longer: compare the field sets of managers for that.
 */
export function sameApplied(desired: unknown, live: unknown, schema?: Schema): boolean {
  return firstDifference(desired, live, schema) === undefined;
}

/** Where {@link sameApplied} finds the first difference, such as `spec.template.spec.containers[name=web].image`. */
export function firstDifference(desired: unknown, live: unknown, schema?: Schema): string | undefined {
  const path = compareRoots(desired, live, schema);
  return path === undefined ? undefined : path.replace(/^\./, "") || ".";
}

/** Metadata is the same for all kinds: schemas of CRDs leave it out, and some objects come without a schema. */
function compareRoots(desired: unknown, live: unknown, schema: Schema | undefined): string | undefined {
  const published = schema?.properties?.metadata;
  if (!isObject(desired) || !isObject(live) || published?.properties) return compare(desired, live, schema, false);
  const path = compare(desired.metadata, live.metadata, METADATA, false);
  return path === undefined ? compare({ ...desired, metadata: undefined }, live, schema, false) : `.metadata${path}`;
}

const METADATA: Schema = {
  type: "object",
  properties: {
    labels: { type: "object", additionalProperties: { type: "string" } },
    annotations: { type: "object", additionalProperties: { type: "string" } },
    finalizers: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
    ownerReferences: {
      type: "array",
      items: { type: "object" },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["uid"],
    },
  },
};

/**
 * The path to the first difference, or undefined. Inside an atomic list or map, which has one owner as a whole, what live
 * has beyond desired must be a default.
 */
function compare(desired: unknown, live: unknown, schema: Schema | undefined, isAtomic: boolean): string | undefined {
  if (desired === live || desired === undefined || desired === null) return undefined;
  if (live === undefined || live === null) return isHeldByNothing(desired, schema) ? undefined : "";
  if (Array.isArray(desired)) return Array.isArray(live) ? compareLists(desired, live, schema) : "";
  if (isObject(desired)) return isObject(live) ? compareObjects(desired, live, schema, isAtomic) : "";
  return sameScalar(desired, live, schema) ? undefined : "";
}

/** Whether a server that gets `desired` would store nothing, or stores a default that it does not show. */
function isHeldByNothing(desired: unknown, schema: Schema | undefined): boolean {
  if (schema?.default !== undefined && deepEqual(desired, schema.default)) return true;
  if (Array.isArray(desired)) return desired.length === 0;
  // An empty map is nothing, but an empty struct is something: `emptyDir: {}`.
  if (isObject(desired)) {
    const isOmitted = isMapOf(schema) || schema?.go?.omitZero === true;
    return isOmitted && Object.values(desired).every((value) => value === null || value === undefined);
  }
  const isOmitted = schema?.go?.omitEmpty === true && !schema.go.pointer;
  return isOmitted && (desired === "" || desired === 0 || desired === false);
}

function isMapOf(schema: Schema | undefined): boolean {
  return schema !== undefined && !schema.properties && Boolean(schema.additionalProperties);
}

function compareObjects(
  desired: JsonObject,
  live: JsonObject,
  schema: Schema | undefined,
  isInAtomic: boolean,
): string | undefined {
  const isAtomic = isInAtomic || schema?.["x-kubernetes-map-type"] === "atomic";
  for (const name in desired) {
    const held = Object.hasOwn(live, name) ? live[name] : undefined;
    const path = compare(desired[name], held, fieldOf(schema, name), isAtomic);
    if (path !== undefined) return `.${name}${path}`;
  }
  if (!isAtomic) return undefined;
  for (const name in live) {
    if (desired[name] !== undefined && desired[name] !== null) continue;
    if (!isPlausibleDefault(live[name], schema, name)) return `.${name}`;
  }
  return undefined;
}

/** Servers compute some defaults that no schema tells, so a field of a struct without a known default may be one. */
function isPlausibleDefault(value: unknown, schema: Schema | undefined, name: string): boolean {
  if (isHeldByNothing(value, fieldOf(schema, name))) return true;
  if (isMapOf(schema)) return false;
  const fallback = fieldOf(schema, name)?.default;
  return fallback === undefined || compare(fallback, value, fieldOf(schema, name), false) === undefined;
}

function fieldOf(schema: Schema | undefined, name: string): Schema | undefined {
  if (!schema) return undefined;
  if (schema.properties && Object.hasOwn(schema.properties, name)) return schema.properties[name];
  return typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
}

function compareLists(desired: unknown[], live: unknown[], schema: Schema | undefined): string | undefined {
  const items = schema?.items;
  switch (schema?.["x-kubernetes-list-type"]) {
    case "map":
      return compareKeyed(desired, live, items, schema["x-kubernetes-list-map-keys"] ?? []);
    case "set": {
      const missing = desired.findIndex(
        (item) => !live.some((other) => compare(item, other, items, true) === undefined),
      );
      return missing < 0 ? undefined : `[${missing}]`;
    }
    default:
      return compareInOrder(desired, live, items, schema !== undefined);
  }
}

function compareInOrder(
  desired: unknown[],
  live: unknown[],
  items: Schema | undefined,
  isAtomic: boolean,
): string | undefined {
  if (desired.length !== live.length) return `[${Math.min(desired.length, live.length)}]`;
  for (const [i, item] of desired.entries()) {
    const path = compare(item, live[i], items, isAtomic);
    if (path !== undefined) return `[${i}]${path}`;
  }
  return undefined;
}

function compareKeyed(
  desired: unknown[],
  live: unknown[],
  items: Schema | undefined,
  keys: readonly string[],
): string | undefined {
  const byKey = new Map(live.map((item) => [keyText(item, items, keys), item]));
  // Items that their keys do not tell apart (the server still lets some through) can only be compared in order.
  const names = desired.map((item) => keyText(item, items, keys));
  if (byKey.size < live.length || new Set(names).size < names.length)
    return compareInOrder(desired, live, items, false);
  for (const [i, name] of names.entries()) {
    const path = compare(desired[i], byKey.get(name), items, false);
    if (path !== undefined) return `[${name}]${path}`;
  }
  return undefined;
}

/** `containerPort=80,protocol=TCP`, with the default of a key that is missing. */
function keyText(item: unknown, items: Schema | undefined, keys: readonly string[]): string {
  const fields = isObject(item) ? item : {};
  return keys.map((key) => `${key}=${fields[key] ?? fieldOf(items, key)?.default ?? ""}`).join(",");
}

function sameScalar(desired: unknown, live: unknown, schema: Schema | undefined): boolean {
  if (deepEqual(desired, live)) return true;
  try {
    switch (schema?.go?.message ?? schema?.format) {
      case "Quantity":
      case "quantity":
        return quantityOf(desired).equals(quantityOf(live));
      case "Duration":
        return parseDuration(String(desired)) === parseDuration(String(live));
      case "Time":
        return Math.floor(timeOf(desired) / 1000) === Math.floor(timeOf(live) / 1000);
      case "MicroTime":
        return timeOf(desired) === timeOf(live);
    }
  } catch {
    return false; // What cannot be read is the server's to judge.
  }
  return schema?.["x-kubernetes-int-or-string"] === true && isIntegerText(desired, live);
}

function quantityOf(value: unknown): Quantity {
  return parseQuantity(String(value).trim());
}

/** NaN, which equals nothing, for what is no time. */
function timeOf(value: unknown): number {
  return Date.parse(String(value));
}

/** 80 and "80", either way round. */
function isIntegerText(desired: unknown, live: unknown): boolean {
  const text = String(desired);
  return /^-?(0|[1-9][0-9]*)$/.test(text) && text === String(live);
}
