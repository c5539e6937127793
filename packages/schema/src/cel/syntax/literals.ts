import { append } from "@konverge/core";
/** The values that literals in the source stand for. */

/** The value of a string literal with its quotes; throws with a message for the user. */
export function unquoteString(literal: string): string {
  const { text, isRaw } = unwrap(literal);
  return isRaw ? text : text.replace(ESCAPE, unescapeInString);
}

/** The value of a bytes literal without its `b`; throws with a message for the user. */
export function unquoteBytes(literal: string): Uint8Array {
  const { text, isRaw } = unwrap(literal);
  const encoder = new TextEncoder();
  if (isRaw) return encoder.encode(text);
  const bytes: number[] = [];
  for (const part of text.split(SPLIT_ESCAPES)) {
    const code = part.startsWith("\\") ? codeOf(part) : undefined;
    if (code === undefined) append(bytes, encoder.encode(part.startsWith("\\") ? SIMPLE[part[1]!]! : part));
    else if (/^\\[uU]/.test(part)) throw new Error("unable to unescape string");
    else bytes.push(code);
  }
  return Uint8Array.from(bytes);
}

/** The lexer has made sure that every backslash begins one of these. */
const ESCAPE = /\\(?:[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2}|.)/gsu;
const SPLIT_ESCAPES = /(\\(?:[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2}|.))/su;
const SIMPLE: Record<string, string> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\\": "\\",
  "'": "'",
  '"': '"',
  "`": "`",
  "?": "?",
};

function unwrap(literal: string): { text: string; isRaw: boolean } {
  const isRaw = literal[0] === "r" || literal[0] === "R";
  const quoted = (isRaw ? literal.slice(1) : literal).replace(/\r\n?/g, "\n");
  const quotes = quoted.length >= 6 && quoted.startsWith(quoted[0]!.repeat(3)) ? 3 : 1;
  return { text: quoted.slice(quotes, -quotes), isRaw };
}

function unescapeInString(sequence: string): string {
  const code = codeOf(sequence);
  if (code === undefined) return SIMPLE[sequence[1]!]!;
  const isSurrogate = code >= 0xd800 && code <= 0xdfff;
  if (isSurrogate || code > 0x10ffff) throw new Error("invalid unicode code point");
  return String.fromCodePoint(code);
}

function codeOf(sequence: string): number | undefined {
  if (/^\\[0-3]/.test(sequence)) return Number.parseInt(sequence.slice(1), 8);
  return /^\\[xXuU]/.test(sequence) && sequence.length > 2 ? Number.parseInt(sequence.slice(2), 16) : undefined;
}

const INT_MIN = -(2n ** 63n);
const INT_MAX = 2n ** 63n - 1n;
const UINT_MAX = 2n ** 64n - 1n;

/** An int literal with its sign, or undefined when it does not fit 64 bits. */
export function parseIntLiteral(text: string, isNegative: boolean): bigint | undefined {
  const value = isNegative ? -BigInt(text) : BigInt(text);
  return value < INT_MIN || value > INT_MAX ? undefined : value;
}

/** A uint literal with its `u`, or undefined when it does not fit 64 bits. */
export function parseUintLiteral(text: string): bigint | undefined {
  const value = BigInt(text.slice(0, -1));
  return value > UINT_MAX ? undefined : value;
}

/** A double literal with its sign, or undefined when it is too large. */
export function parseDoubleLiteral(text: string, isNegative: boolean): number | undefined {
  const value = Number(text);
  if (!Number.isFinite(value)) return undefined;
  return isNegative ? -value : value;
}
