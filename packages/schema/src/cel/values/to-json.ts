/** Values as JSON without the help of a schema. */
import { formatSeconds, formatTimestamp } from "./time.ts";
import { CelList, CelMap, Duration, Opaque, Timestamp, Uint, type Value } from "./values.ts";

/** A value that JSON has no form for. */
export class NotJson extends Error {}

/** A value as JSON; `large` says what becomes of whole numbers that a double cannot hold. */
export function toJson(value: Value, large: (int: bigint) => unknown): unknown {
  switch (typeof value) {
    case "string":
    case "boolean":
    case "number":
      return value;
    case "bigint":
      return Number.isSafeInteger(Number(value)) ? Number(value) : large(value);
  }
  if (value === null) return null;
  if (value instanceof Uint) return toJson(value.value, large);
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatSeconds(value);
  if (value instanceof CelList) return [...value].map((item) => toJson(item, large));
  if (value instanceof CelMap) {
    return Object.fromEntries([...value.keys()].map((key) => [keyText(key), toJson(value.find(key) ?? null, large)]));
  }
  if (value instanceof Opaque && value.fields) {
    return Object.fromEntries([...value.fields].map(([name, field]) => [name, toJson(field, large)]));
  }
  throw new NotJson("unsupported type conversion to JSON");
}

function keyText(key: Value): string {
  if (typeof key === "string") return key;
  throw new NotJson("the keys of JSON objects are strings");
}
