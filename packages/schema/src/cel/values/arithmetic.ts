/** CEL's operators on numbers and times: 64 bits, and an error instead of an overflow. */
import { CelError, CelList, Duration, noSuchOperator, noSuchOverload, Timestamp, Uint, type Value } from "./values.ts";

const INT_MIN = -(2n ** 63n);
const INT_MAX = 2n ** 63n - 1n;
const UINT_MAX = 2n ** 64n - 1n;
const NANOS = 1_000_000_000n;
/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z. */
const FIRST_SECOND = -62135596800;
const LAST_SECOND = 253402300799;

/** An int, unless it does not fit. */
export function int(value: bigint): bigint | CelError {
  return value < INT_MIN || value > INT_MAX ? new CelError("integer overflow") : value;
}

/** A uint, unless it does not fit. */
export function uint(value: bigint): Uint | CelError {
  return value < 0n || value > UINT_MAX ? new CelError("unsigned integer overflow") : new Uint(value);
}

function duration(nanos: bigint): Duration | CelError {
  const checked = int(nanos);
  return typeof checked === "bigint" ? new Duration(checked) : checked;
}

/** A timestamp, unless it lies outside the years 1 to 9999. */
export function timestamp(seconds: number, nanos: number, offset: number): Timestamp | CelError {
  const isOutside = seconds < FIRST_SECOND || seconds > LAST_SECOND;
  return isOutside ? new CelError("timestamp overflow") : new Timestamp(seconds, nanos, offset);
}

function shift(time: Timestamp, by: bigint): Value {
  const nanos = BigInt(time.nanos) + by;
  const carry = nanos >= 0n ? nanos / NANOS : -((-nanos + NANOS - 1n) / NANOS);
  return timestamp(time.seconds + Number(carry), Number(nanos - carry * NANOS), time.offset);
}

/** `a + b`, of numbers, texts, lists and times. */
export function add(a: Value, b: Value): Value {
  switch (typeof a) {
    case "bigint":
      return typeof b === "bigint" ? int(a + b) : noSuchOverload(b);
    case "number":
      return typeof b === "number" ? a + b : noSuchOverload(b);
    case "string":
      return typeof b === "string" ? a + b : noSuchOverload(b);
  }
  if (a instanceof CelList) return a.plus(b);
  if (a instanceof Uint) return b instanceof Uint ? uint(a.value + b.value) : noSuchOverload(b);
  if (a instanceof Uint8Array) return b instanceof Uint8Array ? joinBytes(a, b) : noSuchOverload(b);
  if (a instanceof Duration) {
    if (b instanceof Duration) return duration(a.nanos + b.nanos);
    return b instanceof Timestamp ? shift(b, a.nanos) : noSuchOverload(b);
  }
  if (a instanceof Timestamp) return b instanceof Duration ? shift(a, b.nanos) : noSuchOverload(b);
  return noSuchOperator(a, "_+_");
}

function joinBytes(a: Uint8Array, b: Uint8Array): Uint8Array {
  const joined = new Uint8Array(a.length + b.length);
  joined.set(a);
  joined.set(b, a.length);
  return joined;
}

/** `a - b`. */
export function subtract(a: Value, b: Value): Value {
  if (typeof a === "bigint") return typeof b === "bigint" ? int(a - b) : noSuchOverload(b);
  if (typeof a === "number") return typeof b === "number" ? a - b : noSuchOverload(b);
  if (a instanceof Uint) return b instanceof Uint ? uint(a.value - b.value) : noSuchOverload(b);
  if (a instanceof Duration) return b instanceof Duration ? duration(a.nanos - b.nanos) : noSuchOverload(b);
  if (!(a instanceof Timestamp)) return noSuchOperator(a, "_-_");
  if (b instanceof Timestamp) {
    return duration(BigInt(a.seconds - b.seconds) * NANOS + BigInt(a.nanos - b.nanos));
  }
  if (!(b instanceof Duration)) return noSuchOverload(b);
  const negated = int(-b.nanos);
  return typeof negated === "bigint" ? shift(a, negated) : negated;
}

/** `a * b`. */
export function multiply(a: Value, b: Value): Value {
  if (typeof a === "bigint") return typeof b === "bigint" ? int(a * b) : noSuchOverload(b);
  if (typeof a === "number") return typeof b === "number" ? a * b : noSuchOverload(b);
  if (a instanceof Uint) return b instanceof Uint ? uint(a.value * b.value) : noSuchOverload(b);
  return noSuchOperator(a, "_*_");
}

/** `a / b`. */
export function divide(a: Value, b: Value): Value {
  if (typeof a === "number") return typeof b === "number" ? a / b : noSuchOverload(b);
  return integerDivision(a, b, "_/_", "division by zero", (x, y) => x / y);
}

/** `a % b`. */
export function modulo(a: Value, b: Value): Value {
  return integerDivision(a, b, "_%_", "modulus by zero", (x, y) => x % y);
}

function integerDivision(
  a: Value,
  b: Value,
  operator: string,
  byZero: string,
  divide: (a: bigint, b: bigint) => bigint,
): Value {
  if (typeof a === "bigint") {
    if (typeof b !== "bigint") return noSuchOverload(b);
    if (b === 0n) return new CelError(byZero);
    return a === INT_MIN && b === -1n ? new CelError("integer overflow") : divide(a, b);
  }
  if (!(a instanceof Uint)) return noSuchOperator(a, operator);
  if (!(b instanceof Uint)) return noSuchOverload(b);
  return b.value === 0n ? new CelError(byZero) : new Uint(divide(a.value, b.value));
}

/** `-a`. */
export function negate(a: Value): Value {
  if (typeof a === "bigint") return int(-a);
  if (typeof a === "number") return -a;
  if (a instanceof Duration) return duration(-a.nanos);
  return typeof a === "boolean" ? noSuchOverload() : noSuchOperator(a, "-_");
}
