import { formatDuration } from "@konverge/core";
import { formatShort } from "./number-text.ts";
import { formatTimestamp } from "./time.ts";
import {
  CelError,
  CelList,
  CelMap,
  Duration,
  Optional,
  Timestamp,
  TypeValue,
  typeName,
  Uint,
  type Value,
} from "./values.ts";

/** A value as error messages show it: `no such key: x`, `index out of bounds: 5`. */
export function valueText(value: Value): string {
  switch (typeof value) {
    case "string":
    case "boolean":
    case "bigint":
      return String(value);
    case "number":
      return formatShort(value);
  }
  if (value === null) return "0";
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Uint8Array) return `[${value.join(" ")}]`;
  if (value instanceof Duration) return formatDuration(value.nanos);
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof TypeValue) return value.name;
  if (value instanceof CelError) return value.message;
  if (value instanceof CelList) return `[${[...value].map(valueText).join(", ")}]`;
  if (value instanceof CelMap)
    return `{${[...value.keys()].map((key) => `${valueText(key)}: ${valueText(value.find(key)!)}`).join(", ")}}`;
  if (value instanceof Optional)
    return value.value === undefined ? "optional.none()" : `optional(${valueText(value.value)})`;
  return typeName(value);
}
