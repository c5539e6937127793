/** The functions named after types: `int(x)`, `string(x)`, `timestamp(x)` … */
import { int, timestamp, uint } from "./arithmetic.ts";
import { formatShort, parseFloat64, parseInteger } from "./number-text.ts";
import { formatSeconds, formatTimestamp, parseGoDuration, parseTimestamp } from "./time.ts";
import { CelError, Duration, Timestamp, TypeValue, typeName, Uint, type Value } from "./values.ts";

function cannot(value: Value, type: string): CelError {
  return new CelError(`type conversion error from '${typeName(value)}' to '${type}'`);
}

/** `int(value)`. */
export function toInt(value: Value): Value {
  if (typeof value === "bigint") return value;
  if (typeof value === "number") {
    const fits = Number.isFinite(value) && value > -(2 ** 63) && value < 2 ** 63;
    return fits ? BigInt(Math.trunc(value)) : new CelError("integer overflow");
  }
  if (value instanceof Uint) return int(value.value);
  if (value instanceof Duration) return value.nanos;
  if (value instanceof Timestamp) return BigInt(value.seconds);
  if (typeof value !== "string") return cannot(value, "int");
  const parsed = parseInteger(value);
  return parsed === undefined || int(parsed) instanceof CelError ? cannot(value, "int") : parsed;
}

/** `uint(value)`. */
export function toUint(value: Value): Value {
  if (value instanceof Uint) return value;
  if (typeof value === "bigint") return uint(value);
  if (typeof value === "number") {
    const fits = Number.isFinite(value) && value >= 0 && value < 2 ** 64;
    return fits ? new Uint(BigInt(Math.trunc(value))) : new CelError("unsigned integer overflow");
  }
  if (typeof value !== "string" || /^[+-]/.test(value)) return cannot(value, "uint");
  const parsed = parseInteger(value);
  const converted = parsed === undefined ? undefined : uint(parsed);
  return converted instanceof Uint ? converted : cannot(value, "uint");
}

/** `double(value)`. */
export function toDouble(value: Value): Value {
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value);
  if (value instanceof Uint) return Number(value.value);
  if (typeof value !== "string") return cannot(value, "double");
  return parseFloat64(value) ?? cannot(value, "double");
}

const TRUE = ["1", "t", "T", "TRUE", "true", "True"];
const FALSE = ["0", "f", "F", "FALSE", "false", "False"];

/** `bool(value)`. */
export function toBool(value: Value): Value {
  if (typeof value === "boolean") return value;
  if (typeof value !== "string") return cannot(value, "bool");
  if (TRUE.includes(value)) return true;
  return FALSE.includes(value) ? false : cannot(value, "bool");
}

/** `bytes(value)`. */
export function toBytes(value: Value): Value {
  if (value instanceof Uint8Array) return value;
  return typeof value === "string" ? new TextEncoder().encode(value) : cannot(value, "bytes");
}

/** `string(value)`. */
export function toText(value: Value): Value {
  switch (typeof value) {
    case "string":
      return value;
    case "boolean":
    case "bigint":
      return String(value);
    case "number":
      return formatShort(value);
  }
  if (value === null) return "null";
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Uint8Array) return bytesToText(value);
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatSeconds(value);
  return value instanceof TypeValue ? value.name : cannot(value, "string");
}

function bytesToText(bytes: Uint8Array): Value {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return new CelError("invalid UTF-8 in bytes, cannot convert to string");
  }
}

/** `duration(value)`. */
export function toDuration(value: Value): Value {
  if (value instanceof Duration) return value;
  const parsed = typeof value === "string" ? parseGoDuration(value) : undefined;
  return parsed ?? cannot(value, "google.protobuf.Duration");
}

/** `timestamp(value)`. */
export function toTimestamp(value: Value): Value {
  if (value instanceof Timestamp) return value;
  if (typeof value === "bigint") return timestamp(Number(value), 0, 0);
  const parsed = typeof value === "string" ? parseTimestamp(value) : undefined;
  return parsed ? timestamp(parsed.seconds, parsed.nanos, parsed.offset) : cannot(value, "google.protobuf.Timestamp");
}
