/** `"%s of %d".format([name, count])`: the same clauses when they run and when their arguments' types are checked. */
import { quoted } from "@konverge/core";
import type { Expr } from "../syntax/ast.ts";
import type { Type, TypeKind } from "../types/types.ts";
import { toDouble, toText } from "../values/convert.ts";
import { checkCharacters } from "../values/limits.ts";
import { formatShort } from "../values/number-text.ts";
import {
  CelError,
  CelList,
  CelMap,
  compareStrings,
  Duration,
  isError,
  Timestamp,
  TypeValue,
  typeName,
  Uint,
  type Value,
} from "../values/values.ts";

/** What is wrong with a format: its message is the user's, `expr` the argument that does not fit. */
class FormatError extends Error {
  readonly expr: Expr | undefined;
  constructor(message: string, expr?: Expr) {
    super(message);
    this.expr = expr;
  }
}

const DEFAULT_PRECISION = 6;

type Format = (arg: Value, precision: number | undefined) => string;

interface Clause {
  readonly kinds: readonly TypeKind[];
  /** "only integers can be formatted so, was given" – what is said of arguments of other types. */
  readonly problem: string;
  readonly format: Format;
}

const TEXT_KINDS: TypeKind[] = [
  "list",
  "map",
  "int",
  "uint",
  "double",
  "bool",
  "string",
  "timestamp",
  "bytes",
  "duration",
  "type",
  "null",
];

const CLAUSES: Record<string, Clause> = {
  s: {
    kinds: TEXT_KINDS,
    problem:
      "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given",
    format: formatText,
  },
  d: { kinds: ["int", "uint"], problem: "decimal clause can only be used on integers, was given", format: integer(10) },
  f: {
    kinds: ["double", "string"],
    problem: "fixed-point clause can only be used on doubles, was given",
    format: (arg, precision = DEFAULT_PRECISION) => fixed(doubleOf(arg, "f"), precision),
  },
  e: {
    kinds: ["double", "string"],
    problem: "scientific clause can only be used on doubles, was given",
    format: (arg, width = DEFAULT_PRECISION) => scientific(doubleOf(arg, "e"), width),
  },
  b: {
    kinds: ["int", "uint", "bool"],
    problem: "only integers and bools can be formatted as binary, was given",
    format: (arg) => (typeof arg === "boolean" ? (arg ? "1" : "0") : integer(2, "b")(arg, undefined)),
  },
  x: {
    kinds: ["int", "uint", "string", "bytes"],
    problem: "only integers, byte buffers, and strings can be formatted as hex, was given",
    format: hex,
  },
  o: {
    kinds: ["int", "uint"],
    problem: "octal clause can only be used on integers, was given",
    format: integer(8, "o"),
  },
};
const HEX_UPPER: Clause = { ...CLAUSES["x"]!, format: (arg) => hex(arg).toUpperCase() };

function unfit(clause: string, type: string, expr?: Expr): FormatError {
  return new FormatError(`${CLAUSES[clause]!.problem} ${type}`, expr);
}

/** Formats a list of values; an error when the format or an argument is wrong. */
export function formatString(format: Value, args: Value): Value {
  const list = args as CelList;
  try {
    return interpolate(format as string, list.size, (clause, i, precision) => {
      const arg = list.at(i);
      checkSize(arg, 0);
      return clause.format(arg, precision);
    });
  } catch (error) {
    if (error instanceof FormatError) return new CelError(error.message);
    throw error;
  }
}

/** Adds the size of a value's text to that of others. A list can have the same long text in it many times. */
function checkSize(value: Value, others: number): number {
  let size = others + (typeof value === "string" || value instanceof Uint8Array ? value.length : 1);
  if (value instanceof CelList) for (const item of value) size = checkSize(item, size);
  else if (value instanceof CelMap) {
    for (const key of value.keys()) size = checkSize(value.find(key)!, checkSize(key, size));
  }
  checkCharacters(size);
  return size;
}

/** What is wrong with a format and the expressions that are its arguments, before anything runs. */
export function checkFormat(
  format: string,
  args: readonly Expr[],
  typeOf: (expr: Expr) => Type,
): { message: string; expr?: Expr } | undefined {
  let used = 0;
  const check = (expr: Expr, clause: Clause) => {
    const type = typeOf(expr);
    if (type.kind !== "dyn" && !clause.kinds.includes(type.kind))
      throw new FormatError(`${clause.problem} ${type.name}`, expr);
    if (clause !== CLAUSES["s"]) return;
    if (expr.kind === "list") for (const item of expr.items) check(item, clause);
    if (expr.kind === "map")
      for (const entry of expr.entries) for (const part of [entry.key, entry.value]) check(part, clause);
  };
  try {
    interpolate(format, args.length, (clause, i) => {
      used++;
      check(args[i]!, clause);
      return "";
    });
  } catch (error) {
    if (error instanceof FormatError) return error;
    throw error;
  }
  if (args.length <= used) return undefined;
  return { message: `too many arguments supplied to string.format (expected ${used}, got ${args.length})` };
}

const PRECISION = /^\.([0-9]*)/;

function interpolate(
  format: string,
  count: number,
  each: (clause: Clause, index: number, precision: number | undefined) => string,
): string {
  let result = "";
  let index = 0;
  for (let i = 0; i < format.length; i++) {
    if (format[i] !== "%") {
      result += format[i];
      continue;
    }
    if (format[i + 1] === "%") {
      result += "%";
      i++;
      continue;
    }
    if (index >= count) throw new FormatError(`index ${index} out of range`);
    if (i + 1 >= format.length) throw new FormatError("unexpected end of string");
    const { clause, precision, length } = parseClause(format.slice(i + 1));
    try {
      result += each(clause, index, precision);
      checkCharacters(result.length);
    } catch (error) {
      if (error instanceof FormatError) throw new FormatError(`error during formatting: ${error.message}`, error.expr);
      throw error;
    }
    i += length;
    index++;
  }
  return result;
}

function parseClause(text: string): { clause: Clause; precision: number | undefined; length: number } {
  const wrong = (message: string) => new FormatError(`could not parse formatting clause: ${message}`);
  const digits = PRECISION.exec(text)?.[1];
  const at = digits === undefined ? 0 : digits.length + 1;
  if (digits !== undefined) {
    const inPrecision = (message: string) => wrong(`error while parsing precision: ${message}`);
    if (at >= text.length) throw inPrecision("could not find end of precision specifier");
    if (digits === "")
      throw inPrecision('error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax');
  }
  const letter = String.fromCharCode(new TextEncoder().encode(text.slice(at))[0]!);
  const clause = letter === "X" ? HEX_UPPER : CLAUSES[letter];
  if (!clause) throw wrong(`unrecognized formatting clause "${letter}"`);
  return { clause, precision: digits === undefined ? undefined : Number(digits), length: at + 1 };
}

function formatText(arg: Value): string {
  if (arg instanceof CelList) return `[${[...arg].map(formatNested).join(", ")}]`;
  if (arg instanceof CelMap) return formatMap(arg);
  if (arg === null) return "null";
  const isText = typeof arg !== "object" || isTextObject(arg);
  if (!isText) throw unfit("s", typeName(arg));
  const text = toText(arg);
  if (isError(text)) throw new FormatError(`could not convert argument ${JSON.stringify(text.message)} to string`);
  return text as string;
}

function isTextObject(arg: Value): boolean {
  return (
    arg instanceof Uint ||
    arg instanceof Uint8Array ||
    arg instanceof Timestamp ||
    arg instanceof Duration ||
    arg instanceof TypeValue
  );
}

/** A value inside a list or a map, written as a literal of CEL. */
function formatNested(value: Value): string {
  if (typeof value === "string") return quoted(value);
  if (value instanceof Uint8Array) return `b${quoted(formatText(value))}`;
  if (typeof value === "number") return formatNestedDouble(value);
  if (value instanceof Timestamp) return `timestamp(${quoted(formatText(value))})`;
  if (value instanceof Duration) return `duration(${quoted(formatText(value))})`;
  const isKnown = typeof value !== "object" || value === null || isTextObject(value);
  if (!isKnown && !(value instanceof CelList) && !(value instanceof CelMap))
    throw new FormatError(`no formatting function for ${typeName(value)}`);
  return formatText(value);
}

function formatNestedDouble(value: number): string {
  const digits = roundDecimal(value, DEFAULT_PRECISION);
  if (digits === undefined) return quoted(formatShort(value));
  return `${minus(value)}${withPoint(digits, DEFAULT_PRECISION).join(".")}`;
}

function formatMap(map: CelMap): string {
  const pairs = [...map.keys()].map((key) => {
    if (!["string", "bool", "int", "uint"].includes(typeName(key)))
      throw new FormatError(`no formatting function for map key of type ${typeName(key)}`);
    return [formatNested(key), formatNested(map.find(key)!)] as const;
  });
  pairs.sort(([a], [b]) => compareStrings(a, b));
  return `{${pairs.map(([key, value]) => `${key}:${value}`).join(", ")}}`;
}

function integer(radix: number, clause = "d"): Format {
  return (arg) => {
    if (typeof arg === "bigint") return arg.toString(radix);
    if (arg instanceof Uint) return arg.value.toString(radix);
    throw unfit(clause, typeName(arg));
  };
}

function hex(arg: Value): string {
  const bytes = typeof arg === "string" ? new TextEncoder().encode(arg) : arg;
  if (bytes instanceof Uint8Array) return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return integer(16, "x")(arg, undefined);
}

function doubleOf(arg: Value, clause: string): number {
  const isWord = arg === "NaN" || arg === "Infinity" || arg === "-Infinity";
  if (typeof arg !== "number" && !isWord) throw unfit(clause, typeName(arg));
  return toDouble(arg) as number;
}

/** After these, a double has none but zeros. */
const MOST_PLACES = 1100;

/** American English, as the API server formats: thousands are grouped. */
function fixed(value: number, places: number): string {
  checkCharacters(places);
  const precision = Math.min(places, MOST_PLACES);
  const digits = roundDecimal(value, precision);
  if (digits === undefined) return Number.isNaN(value) ? "NaN" : value > 0 ? "∞" : "-∞";
  const [whole, fraction] = withPoint(digits, precision);
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  return `${minus(value)}${grouped}${places > 0 ? `.${fraction.padEnd(places, "0")}` : ""}`;
}

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** The precision is taken for the least width, which only shows where there is no number. */
function scientific(value: number, width: number): string {
  checkCharacters(width);
  if (!Number.isFinite(value)) return fixed(value, 0).padStart(width);
  let exponent = value === 0 ? 0 : Number(Math.abs(value).toExponential().split("e")[1]);
  let digits = roundDecimal(value, DEFAULT_PRECISION - exponent)!;
  if (digits.length > DEFAULT_PRECISION + 1) digits = roundDecimal(value, DEFAULT_PRECISION - ++exponent)!;
  const [whole, fraction] = withPoint(digits, DEFAULT_PRECISION);
  const power = String(Math.abs(exponent)).padStart(2, "0");
  const raised = Array.from(power, (digit) => SUPERSCRIPTS[Number(digit)]).join("");
  return `${minus(value)}${whole}.${fraction}×10${exponent < 0 ? "⁻" : ""}${raised}`;
}

const minus = (value: number) => (value < 0 || Object.is(value, -0) ? "-" : "");

function withPoint(digits: string, precision: number): [whole: string, fraction: string] {
  const padded = digits.padStart(precision + 1, "0");
  return [padded.slice(0, padded.length - precision), padded.slice(padded.length - precision)];
}

/** |value| × 10^precision as a whole number; halves go to the even neighbor. Undefined for what is not finite. */
function roundDecimal(value: number, precision: number): string | undefined {
  if (!Number.isFinite(value)) return undefined;
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, Math.abs(value));
  const exponent = Number((bits.getBigUint64(0) >> 52n) & 0x7ffn);
  const mantissa = (bits.getBigUint64(0) & 0xfffffffffffffn) | (exponent === 0 ? 0n : 0x10000000000000n);
  const power = Math.max(exponent, 1) - 1075;
  const numerator = mantissa * 2n ** BigInt(Math.max(power, 0)) * 10n ** BigInt(Math.max(precision, 0));
  const denominator = 2n ** BigInt(Math.max(-power, 0)) * 10n ** BigInt(Math.max(-precision, 0));
  const whole = numerator / denominator;
  const twice = (numerator % denominator) * 2n;
  const isUp = twice > denominator || (twice === denominator && whole % 2n === 1n);
  return String(isUp ? whole + 1n : whole);
}
