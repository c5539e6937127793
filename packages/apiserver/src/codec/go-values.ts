import {
  canonicalQuantity,
  DurationError,
  formatDuration,
  parseDuration,
  QuantityError,
  stringifyJson,
  WholeFloat,
} from "@konverge/core";
import { DecodeError } from "./decode-error.ts";
import { isUsualTime, parseGoTime } from "./go-time.ts";

/** How JSON values become the values of Go's basic types, and of the few that read their own JSON. */
export type ValueReader = (value: unknown, mismatch: Mismatch) => unknown;

/** Notes that a JSON value is not what a Go type needs. */
export type Mismatch = (what: string, type: string) => undefined;

/** What Go's decoder calls a JSON value that does not fit. */
export function jsonKind(value: unknown): string {
  if (typeof value === "boolean") return "bool";
  if (isNumber(value)) return "number";
  if (typeof value === "string") return "string";
  return Array.isArray(value) ? "array" : "object";
}

function isNumber(value: unknown): value is number | bigint | WholeFloat {
  return typeof value === "number" || typeof value === "bigint" || value instanceof WholeFloat;
}

export const readString: ValueReader = (value, mismatch) =>
  typeof value === "string" ? value : mismatch(jsonKind(value), "string");

export const readBool: ValueReader = (value, mismatch) =>
  typeof value === "boolean" ? value : mismatch(jsonKind(value), "bool");

export const readInt32 = integerReader("int32", -(2 ** 31), 2 ** 31 - 1);
export const readInt64 = integerReader("int64", -(2n ** 63n), 2n ** 63n - 1n);

function integerReader(type: string, least: number | bigint, most: number | bigint): ValueReader {
  return (value, mismatch) => {
    if (typeof value === "number" && Number.isInteger(value)) {
      // Integers of more digits than a number holds are bigints if 64 bits hold them: this one was rounded.
      const isInRange = value >= least && value <= most && value !== -(2 ** 63);
      return isInRange ? value : mismatch(`number ${stringifyJson(value)}`, type);
    }
    if (typeof value === "bigint" && value >= least && value <= most) return value;
    if (value instanceof WholeFloat) return mismatch(`number ${value.value}.0`, type);
    return mismatch(isNumber(value) ? `number ${value}` : jsonKind(value), type);
  };
}

/** How Go converts a number that is already decoded: whole floats fit an integer, and int32 keeps the lowest 32 bits. */
export function convertedToInt32(value: unknown): unknown {
  const whole = convertedToInt64(value);
  if (typeof whole === "bigint") return Number(BigInt.asIntN(32, whole));
  return Number.isSafeInteger(whole) ? Number(BigInt.asIntN(32, BigInt(whole as number))) : whole;
}

export const convertedToInt64 = (value: unknown): unknown => (value instanceof WholeFloat ? value.value : value);

export const readFloat64: ValueReader = (value, mismatch) => {
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value);
  return value instanceof WholeFloat ? value.value : mismatch(jsonKind(value), "float64");
};

/** Base64, as Go's encoding/json reads it: padded, and line ends are skipped. */
export const readBytes: ValueReader = (value, mismatch) => {
  if (typeof value !== "string") return mismatch(jsonKind(value), "[]uint8");
  const text = value.replace(/[\r\n]/g, "");
  const bad = /[^A-Za-z0-9+/]/.exec(text.replace(/={1,2}$/, ""));
  if (bad || text.length % 4 !== 0) {
    throw new DecodeError(`illegal base64 data at input byte ${bad?.index ?? text.length - (text.length % 4)}`);
  }
  return text;
};

export const readQuantity: ValueReader = (value) => {
  if (typeof value !== "string" && !isNumber(value)) throw new DecodeError(QUANTITY_WRONG);
  try {
    const text = typeof value === "string" ? value : stringifyJson(value);
    let quantity = quantities.get(text);
    if (quantity === undefined) {
      quantity = canonicalQuantity(text);
      if (quantities.size >= REMEMBERED_QUANTITIES) quantities.clear();
      if (text.length <= LONGEST_REMEMBERED) quantities.set(text, quantity);
    }
    return quantity;
  } catch (error) {
    throw error instanceof QuantityError ? new DecodeError(error.message) : error;
  }
};
/** In their one form. The same few texts come again and again. */
const quantities = new Map<string, string>();
const REMEMBERED_QUANTITIES = 1024;
const LONGEST_REMEMBERED = 64;
const QUANTITY_WRONG = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

export const readIntOrString: ValueReader = (value, mismatch) =>
  typeof value === "string" ? value : readInt32(value, mismatch);

export const readTime = timeReader("2006-01-02T15:04:05Z07:00", (ms) => `${new Date(ms).toISOString().slice(0, 19)}Z`);
export const readMicroTime = timeReader("2006-01-02T15:04:05.000000Z07:00", (ms, fraction) => {
  return `${new Date(ms).toISOString().slice(0, 19)}${fraction}Z`;
});

function timeReader(layout: string, write: (ms: number, fraction: string) => string): ValueReader {
  const isMicro = layout.includes(".000000");
  return (value) => {
    if (typeof value !== "string") {
      throw new DecodeError(`json: cannot unmarshal ${jsonKind(value)} into Go value of type string`);
    }
    if (isUsualTime(value, isMicro)) return value;
    const { ms, fraction } = parseGoTime(layout, value);
    return write(ms, fraction);
  };
}

export const readDuration: ValueReader = (value) => {
  if (typeof value !== "string") {
    throw new DecodeError(`json: cannot unmarshal ${jsonKind(value)} into Go value of type string`);
  }
  try {
    return formatDuration(parseDuration(value));
  } catch (error) {
    throw error instanceof DurationError ? new DecodeError(error.message) : error;
  }
};
