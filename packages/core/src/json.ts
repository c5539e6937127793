/**
 * JSON that keeps what JavaScript's own loses and Go keeps: 64-bit integers beyond 2^53 become bigint and are written
 * back digit for digit; on request, whole numbers written as decimals are distinguished from integers. Everything else
 * is plain JSON.parse, which is several times faster, so the text is first searched for numbers that could be lost.
 */
import { exceeds64Bits } from "./long-integer.ts";

/** Digits of the shortest integers that JavaScript may not have. */
const LONG = 16;

/**
 * A whole number that was written as a decimal. Where Kubernetes reads JSON, `1` is an int64 and `1.0` a float64, which
 * matters to the types of built-in kinds, to CEL and to JSONPath until the object is stored, as `1`.
 */
export class WholeFloat {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }

  toJSON(): number {
    return this.value;
  }
}

/** Parses JSON; throws a SyntaxError. */
export function parseJson(text: string): unknown {
  if (!(hasManyDigits(text) && hasLongInteger(text))) return JSON.parse(text);
  return JSON.parse(text, function keepLongIntegers(_key, value: unknown, context?: { source?: string }): unknown {
    const source = context?.source;
    if (typeof value !== "number" || source === undefined) return value;
    return Number.isSafeInteger(value) || /[.eE]/.test(source) ? value : longInteger(source, value);
  });
}

/** Like {@link parseJson}, with {@link WholeFloat} for `1.0` and `1e3`. Slower: for text that {@link surveyJson} does not call plain. */
export function parseJsonNumbers(text: string): unknown {
  return JSON.parse(text, function keepNumbers(_key, value: unknown, context?: { source?: string }): unknown {
    const source = context?.source;
    if (typeof value !== "number" || source === undefined) return value;
    if (/[.eE]/.test(source)) return Number.isInteger(value) ? new WholeFloat(value) : value;
    return Number.isSafeInteger(value) ? value : longInteger(source, value);
  });
}

const SPACE = 32;
const QUOTE = 34;
const COMMA = 44;
const MINUS = 45;
const BACKSLASH = 92;
const COLON = 58;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const ZERO = 48;
const NINE = 57;

const isDigit = (code: number) => code >= ZERO && code <= NINE;

/**
 * Whether enough digits follow each other somewhere that they could be a long integer. They cannot without one of them
 * being where it is looked for, and most of a text is not looked at: every object that is read comes by here.
 */
function hasManyDigits(text: string): boolean {
  for (let i = LONG - 1; i < text.length; i += LONG) {
    if (!isDigit(text.charCodeAt(i))) continue;
    let start = i;
    while (isDigit(text.charCodeAt(start - 1))) start--;
    let end = i + 1;
    while (isDigit(text.charCodeAt(end))) end++;
    if (end - start >= LONG && mayPrecedeInteger(text.charCodeAt(start - 1))) return true;
    i = end;
  }
  return false;
}

/** Digests, scripts and quoted integers have long digits behind other characters. NaN: it begins the text. */
function mayPrecedeInteger(code: number): boolean {
  return (
    code <= SPACE || code === COLON || code === COMMA || code === OPEN_BRACKET || code === MINUS || Number.isNaN(code)
  );
}

/**
 * Whether a long integer stands in a text outside its strings. Times and UUIDs look like numbers to a pattern, are in most
 * objects, and parsing with a callback takes several times as long.
 */
function hasLongInteger(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) i = endOfString(text, i);
    else if (isDigit(code)) {
      const start = i;
      while (isDigit(text.charCodeAt(i + 1))) i++;
      if (isLong(i + 1 - start)) return true;
    }
  }
  return false;
}

/**
 * How deep the objects and lists of a JSON text may be nested. What handles objects calls itself for each level, some of it
 * with several functions, so the stack of a thread sets a limit: this is about a quarter of what it holds. (Go's, which grows,
 * reads 10,000 levels.) No kind of Kubernetes comes near it.
 */
export const MAX_JSON_DEPTH = 500;

/** Whether a JSON value is nested deeper than {@link MAX_JSON_DEPTH}, however deep that is. */
export function isTooDeep(value: unknown, levels: number = MAX_JSON_DEPTH): boolean {
  if (typeof value !== "object" || value === null || value instanceof WholeFloat) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === "object" && isTooDeep(item, levels - 1)) return true;
    return false;
  }
  for (const key in value) {
    const item = (value as Record<string, unknown>)[key];
    if (typeof item === "object" && isTooDeep(item, levels - 1)) return true;
  }
  return false;
}

/** What stands in a JSON text outside its strings. */
export interface JsonSurvey {
  /** How many objects and lists. */
  readonly containers: number;
  /** The most of them that are open at one place. */
  readonly depth: number;
  /** How many keys: a colon stands after each, and nowhere else. */
  readonly keys: number;
  /** How many commas: one less than keys or items in each object and list that has any. */
  readonly commas: number;
  /** No number but integers that JavaScript keeps: {@link parseJson} would give what JSON.parse does. */
  readonly isPlain: boolean;
}

/** Looks through a JSON text, once, for what parsing it hides. Of a text that is no JSON it says nothing of use. */
export function surveyJson(text: string): JsonSurvey {
  let keys = 0;
  let commas = 0;
  let containers = 0;
  let depth = 0;
  let open = 0;
  let isPlain = true;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) i = endOfString(text, i);
    else if (code === COLON) keys++;
    else if (code === COMMA) commas++;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      containers++;
      if (++open > depth) depth = open;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) open--;
    else if (isDigit(code)) {
      const start = i;
      let next = text.charCodeAt(i + 1);
      for (; isDigit(next); next = text.charCodeAt(i + 1)) i++;
      if (isLong(i + 1 - start) || isDecimal(next)) isPlain = false;
    }
  }
  return { keys, commas, containers, depth, isPlain };
}

/** The index of the quotation mark that ends a string; the length of the text if none does. */
function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) return i;
    if (code === BACKSLASH) i++;
  }
  return text.length;
}

const isLong = (digits: number): boolean => digits >= LONG;
/** A point or an exponent follows. */
const isDecimal = (next: number): boolean => next === 46 || next === 69 || next === 101;

/** Beyond 64 bits, Go falls back to floating point, and so do we. */
function longInteger(source: string, value: number): bigint | number {
  if (exceeds64Bits(source)) return value;
  const integer = BigInt(source);
  return integer === BigInt.asIntN(64, integer) ? integer : value;
}

declare global {
  interface JSON {
    rawJSON(text: string): object;
  }
}

/** Writes JSON, with bigints as integers. */
export function stringifyJson(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, undefined, indent);
  } catch (error) {
    // Bigints are rare: trying without is cheaper than looking for them. Whatever else is wrong is thrown again.
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(
      value,
      (_key, item) => (typeof item === "bigint" ? JSON.rawJSON(String(item)) : item),
      indent,
    );
  }
}
