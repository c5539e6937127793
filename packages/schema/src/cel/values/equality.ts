import {
  CelError,
  CelList,
  CelMap,
  compareBytes,
  compareStrings,
  Duration,
  noSuchOverload,
  Opaque,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from "./values.ts";

/** `a == b`: true, false or an error. Null equals null alone, whatever the other side has to say about it. */
export function equal(a: Value, b: Value): Value {
  if (a === null || b === null) return a === b;
  return equalAs(a, b);
}

/** Equality as the left side's type defines it. */
export function equalAs(a: Value, b: Value): Value {
  switch (typeof a) {
    case "string":
    case "boolean":
      return a === b;
    case "bigint":
      return typeof b === "bigint" ? a === b : isNumeric(b) && !Number.isNaN(b) && compareNumbers(a, b) === 0;
    case "number":
      if (Number.isNaN(a) || Number.isNaN(b)) return false;
      return typeof b === "number" ? a === b : isNumeric(b) && compareNumbers(a, b) === 0;
  }
  if (a === null) return b === null;
  if (a instanceof Uint) return isNumeric(b) && !Number.isNaN(b) && compareNumbers(a, b) === 0;
  if (a instanceof CelList || a instanceof CelMap || a instanceof Opaque) return a.equal(b);
  if (a instanceof Uint8Array) return b instanceof Uint8Array && compareBytes(a, b) === 0;
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos;
  if (a instanceof Timestamp) return b instanceof Timestamp && a.seconds === b.seconds && a.nanos === b.nanos;
  if (a instanceof TypeValue) return b instanceof TypeValue && a.name === b.name;
  if (a instanceof Optional) {
    if (!(b instanceof Optional)) return false;
    if (a.value === undefined || b.value === undefined) return a.value === b.value;
    return equalAs(a.value, b.value);
  }
  return a;
}

function isNumeric(value: Value): value is bigint | number | Uint {
  return typeof value === "bigint" || typeof value === "number" || value instanceof Uint;
}

/** The order of two values: -1, 0 or 1, or an error when there is none. Numbers compare across their types. */
export function compare(a: Value, b: Value): number | CelError {
  if (typeof a === "bigint" && typeof b === "bigint") return a < b ? -1 : a > b ? 1 : 0;
  if (isNumeric(a)) {
    if (Number.isNaN(a)) return new CelError("NaN values cannot be ordered");
    if (!isNumeric(b)) return noSuchOverload(b);
    return Number.isNaN(b) ? new CelError("NaN values cannot be ordered") : compareNumbers(a, b);
  }
  if (typeof a === "string") return typeof b === "string" ? compareStrings(a, b) : noSuchOverload(b);
  if (typeof a === "boolean") return typeof b === "boolean" ? Number(a) - Number(b) : noSuchOverload(b);
  if (a instanceof Uint8Array) return b instanceof Uint8Array ? compareBytes(a, b) : noSuchOverload(b);
  if (a instanceof Duration) {
    if (!(b instanceof Duration)) return noSuchOverload(b);
    return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0;
  }
  if (a instanceof Timestamp) {
    if (!(b instanceof Timestamp)) return noSuchOverload(b);
    return Math.sign(a.seconds - b.seconds || a.nanos - b.nanos);
  }
  return noSuchOverload(a);
}

const INT_MIN = -(2 ** 63);
const INT_MAX = 2 ** 63;
const UINT_MAX = 2 ** 64;

/** Numbers of different types are compared as doubles where one of them is a double; NaN is the caller's business. */
function compareNumbers(a: bigint | number | Uint, b: bigint | number | Uint): number {
  if (typeof a === "number") return typeof b === "number" ? order(a, b) : compareDouble(a, b);
  if (typeof b === "number") return -compareDouble(b, a) || 0;
  return order(a instanceof Uint ? a.value : a, b instanceof Uint ? b.value : b);
}

function compareDouble(a: number, b: bigint | Uint): number {
  const isUint = b instanceof Uint;
  if (a < (isUint ? 0 : INT_MIN)) return -1;
  if (a > (isUint ? UINT_MAX : INT_MAX)) return 1;
  return order(a, Number(isUint ? b.value : b));
}

function order<T extends number | bigint>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Whether values of this type can be ordered at all. */
export function isComparable(value: Value): boolean {
  return (
    isNumeric(value) ||
    typeof value === "string" ||
    typeof value === "boolean" ||
    value instanceof Uint8Array ||
    value instanceof Duration ||
    value instanceof Timestamp
  );
}
