/**
 * What expressions compute with. CEL's int is a bigint and its double a number, so that the two cannot be mixed up;
 * null, bool, string and bytes are JavaScript's own. Everything else is one of the classes here.
 *
 * Errors are values: `&&`, `||` and loops may still swallow them, and operations on one return it.
 */

/** Anything that an expression can compute. */
export type Value =
  | boolean
  | bigint
  | number
  | string
  | null
  | Uint8Array
  | Uint
  | Duration
  | Timestamp
  | Optional
  | TypeValue
  | CelList
  | CelMap
  | Opaque
  | CelError;

/** What went wrong while evaluating, in the words that API servers use. */
export class CelError {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

/** Whether something went wrong. */
export function isError(value: Value): value is CelError {
  return value instanceof CelError;
}

const NO_SUCH_OVERLOAD = "no such overload";

/** The error of an operation that does not exist for the value; an error passes through instead. */
export function noSuchOverload(value?: Value): CelError {
  return value instanceof CelError ? value : new CelError(NO_SUCH_OVERLOAD);
}

/** The error of an operator that the left side's type does not have at all. */
export function noSuchOperator(value: Value, operator: string): CelError {
  const isReceiver = typeof value === "string" || value instanceof Duration || value instanceof Timestamp;
  return isReceiver ? noSuchOverload() : new CelError(`no such overload: ${operator}`);
}

/** An unsigned number of 64 bits. */
export class Uint {
  readonly value: bigint;
  constructor(value: bigint) {
    this.value = value;
  }
}

/** A length of time, in nanoseconds of 64 bits. */
export class Duration {
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** A moment: seconds since 1970 and nanoseconds, with the offset from UTC in which it was written. */
export class Timestamp {
  readonly seconds: number;
  readonly nanos: number;
  /** East of Greenwich, in seconds. Only the text of a timestamp shows it. */
  readonly offset: number;
  constructor(seconds: number, nanos: number, offset = 0) {
    this.seconds = seconds;
    this.nanos = nanos;
    this.offset = offset;
  }
}

/** A value that may be missing. */
export class Optional {
  static readonly none = new Optional(undefined);
  readonly value: Value | undefined;
  constructor(value: Value | undefined) {
    this.value = value;
  }
}

/** A type as a value: what `type(x)` gives. */
export class TypeValue {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** A value of a type that a library brings: an IP address, a quantity, an authorization check. */
export abstract class Opaque {
  abstract readonly typeName: string;
  /** Equality as the type defines it; an error for values of other types. */
  abstract equal(other: Value): Value;
  /** How large the value is for the purpose of cost; most have no size. */
  get size(): number | undefined {
    return undefined;
  }
  /** What it is made of, where JSON can say it. */
  readonly fields?: ReadonlyMap<string, Value>;
}

/** A list: built by an expression, or a view of data. */
export abstract class CelList {
  readonly typeName = "list";
  get goType(): string {
    return "*types.baseList";
  }
  /** Views of data through a schema take no other numbers as indices. */
  readonly takesOnlyInts: boolean = false;
  abstract readonly size: number;
  /** The element at an index known to be in range. */
  abstract at(index: number): Value;
  abstract contains(value: Value): Value;
  abstract equal(other: Value): Value;
  abstract plus(other: Value): Value;

  *[Symbol.iterator](): Generator<Value> {
    for (let i = 0; i < this.size; i++) yield this.at(i);
  }
}

/** A map: built by an expression, or a view of data. */
export abstract class CelMap {
  get typeName(): string {
    return "map";
  }
  get goType(): string {
    return "*types.baseMap";
  }
  abstract readonly size: number;
  /** The value under a key; undefined when there is none, an error when there can be none. */
  abstract find(key: Value): Value | undefined;
  abstract keys(): Iterable<Value>;
  abstract equal(other: Value): Value;

  contains(key: Value): Value {
    const found = this.find(key);
    return found !== undefined && isError(found) ? found : found !== undefined;
  }
}

/** The name of a value's type at run time, without parameters. */
export function typeName(value: Value): string {
  switch (typeof value) {
    case "boolean":
      return "bool";
    case "bigint":
      return "int";
    case "number":
      return "double";
    case "string":
      return "string";
  }
  if (value === null) return "null_type";
  if (value instanceof Uint8Array) return "bytes";
  if (value instanceof Uint) return "uint";
  if (value instanceof Duration) return "google.protobuf.Duration";
  if (value instanceof Timestamp) return "google.protobuf.Timestamp";
  if (value instanceof Optional) return "optional_type";
  if (value instanceof TypeValue) return "type";
  if (value instanceof CelError) return "error";
  return value.typeName;
}

const SURROGATES = /[\ud800-\udfff]/;

/** The order of strings by code point; JavaScript's own is by UTF-16 unit, which differs beyond U+FFFF. */
export function compareStrings(a: string, b: string): number {
  if (a === b) return 0;
  if (!SURROGATES.test(a) && !SURROGATES.test(b)) return a < b ? -1 : 1;
  const [left, right] = [Array.from(a), Array.from(b)];
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const difference = left[i]!.codePointAt(0)! - right[i]!.codePointAt(0)!;
    if (difference !== 0) return Math.sign(difference);
  }
  return Math.sign(left.length - right.length);
}

/** The order of bytes: -1, 0 or 1. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    if (a[i] !== b[i]) return a[i]! < b[i]! ? -1 : 1;
  }
  return Math.sign(a.length - b.length);
}

const GO_TYPES: Record<string, string> = {
  bool: "types.Bool",
  bytes: "types.Bytes",
  double: "types.Double",
  error: "*types.Err",
  int: "types.Int",
  null_type: "types.Null",
  string: "types.String",
  uint: "types.Uint",
  "google.protobuf.Duration": "types.Duration",
  "google.protobuf.Timestamp": "types.Timestamp",
  optional_type: "*types.Optional",
  type: "*types.Type",
};

/** What the API server's own messages call the type of a value: its name in Go. */
export function goTypeName(value: Value): string {
  const hasOwnName = typeof value === "object" && value !== null && "goType" in value;
  return hasOwnName ? value.goType : (GO_TYPES[typeName(value)] ?? typeName(value));
}
