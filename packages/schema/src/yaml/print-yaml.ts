import { goText, isObject, type JsonObject } from "@konverge/core";
import { resolvePlain } from "./scalars.ts";

/**
 * Values as YAML documents, byte for byte as `kubectl get -o yaml` prints them: keys in natural order, lists not
 * indented, long lines folded, quotes only where YAML 1.1 would otherwise read another value.
 */
export function printYaml(...values: unknown[]): string {
  return values.map((value) => `${isBranch(value) ? block(value, "") : scalar(value, "  ", 0)}\n`).join("---\n");
}

function isBranch(value: unknown): value is object {
  return Array.isArray(value) ? value.length > 0 : isObject(value) && Object.keys(value).length > 0;
}

/** A map or list whose first line continues the current one; further lines start with `pad`. */
function block(value: object, pad: string): string {
  if (Array.isArray(value))
    return value.map((item) => `- ${inline(item, `${pad}  `, pad.length + 2)}`).join(`\n${pad}`);
  const object = value as JsonObject;
  return Object.keys(object)
    .sort(inNaturalOrder)
    .map((name) => entry(name, object[name], pad))
    .join(`\n${pad}`);
}

function inline(value: unknown, pad: string, column: number): string {
  return isBranch(value) ? block(value, pad) : scalar(value, pad, column);
}

function entry(name: string, value: unknown, pad: string): string {
  const inner = `${pad}  `;
  if (name.includes("\n") || Buffer.byteLength(name) > LONGEST_KEY) {
    const key = text(name, inner, { isKey: false, column: inner.length, folds: true });
    return `? ${key}\n${pad}: ${inline(value, inner, inner.length)}`;
  }
  const key = `${text(name, pad, { isKey: true, column: pad.length, folds: false })}:`;
  if (Array.isArray(value) && isBranch(value)) return `${key}\n${pad}${block(value, pad)}`;
  if (isBranch(value)) return `${key}\n${inner}${block(value, inner)}`;
  return `${key} ${scalar(value, inner, pad.length + [...key].length + 1)}`;
}

/** Keys beyond this length, in bytes, are written with a question mark. */
const LONGEST_KEY = 128;

function scalar(value: unknown, pad: string, column: number): string {
  if (typeof value === "string") return text(value, pad, { isKey: false, column, folds: true });
  if (typeof value === "number")
    return Number.isInteger(value) && Math.abs(value) < 2 ** 64 ? String(value) : goText(value);
  if (Array.isArray(value)) return "[]";
  return isObject(value) ? "{}" : String(value ?? null);
}

interface Position {
  /** A key before a colon, which has to fit a line. */
  isKey: boolean;
  /** Where the text starts. */
  column: number;
  /** Whether the text may go on on another line. */
  folds: boolean;
}

function text(value: string, pad: string, position: Position): string {
  const style = styleOf(value, position.isKey);
  if (style === "literal") return literal(value, pad);
  const column = position.folds ? position.column : Number.NEGATIVE_INFINITY;
  if (style === "plain") return folded(value, pad, column, "plain");
  if (style === "single") return `'${folded(value, pad, column + 1, "single").replaceAll("'", "''")}'`;
  return `"${folded(value, pad, column + 1, "double")}"`;
}

const WIDTH = 80;

/** A text with its spaces beyond the width turned into line breaks, where it can be read back the same. */
function folded(value: string, pad: string, start: number, style: "plain" | "single" | "double"): string {
  const characters = [...value];
  let column = start;
  let result = "";
  characters.forEach((character, index) => {
    const isInside = style === "plain" || (index > 0 && index < characters.length - 1);
    const isBreak = character === " " && characters[index - 1] !== " " && column > WIDTH && isInside;
    if (isBreak && (style === "double" || characters[index + 1] !== " ")) {
      result += `\n${pad}`;
      column = pad.length;
      // A line that starts with a space has to say that the space counts.
      if (characters[index + 1] === " ") result += "\\";
    } else {
      const written = style === "double" ? escaped(character) : character;
      result += written;
      column += style === "single" && character === "'" ? 2 : written.length === character.length ? 1 : written.length;
    }
  });
  return result;
}

/** What no plain scalar may start with, or contain. */
const INDICATORS = /^[#,[\]{}&*!|>'"%@`]|^[?:-](?=[ \t]|$)|^---|^\.\.\.|:(?=[ \t]|$)|[ \t]#/;
/** All that YAML prints as it is; what lies beyond the first plane it does not. */
const PRINTABLE = /^[\n -~\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]*$/;
const BASE_60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;
const TIMESTAMP = /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt ]|$)/;

function styleOf(value: string, isKey: boolean): "plain" | "single" | "double" | "literal" {
  if (!PRINTABLE.test(value)) return "double";
  if (value.includes("\n")) return isKey || /[ ]$| \n/.test(value) ? "double" : "literal";
  if (typeof resolvePlain(value) !== "string" || BASE_60.test(value) || isTimestamp(value)) return "double";
  return /^ | $|[\u2028\u2029]/.test(value) || INDICATORS.test(value) ? "single" : "plain";
}

function isTimestamp(value: string): boolean {
  return TIMESTAMP.test(value) && !Number.isNaN(Date.parse(value));
}

function literal(value: string, pad: string): string {
  const indentation = /^[ \n]/.test(value) ? "2" : "";
  const chomping = !value.endsWith("\n") ? "-" : /(^|\n)\n$/.test(value) ? "+" : "";
  const lines = value.replace(/\n$/, "").split("\n");
  return `|${indentation}${chomping}\n${lines.map((line) => (line === "" ? "" : `${pad}${line}`)).join("\n")}`;
}

const ESCAPES: Record<string, string> = {
  "\u0000": "\\0",
  "\u0007": "\\a",
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\v": "\\v",
  "\f": "\\f",
  "\r": "\\r",
  "\u001b": "\\e",
  '"': '\\"',
  "\\": "\\\\",
  "\u0085": "\\N",
  "\u00a0": "\\_",
  "\u2028": "\\L",
  "\u2029": "\\P",
};

function escaped(character: string): string {
  const short = ESCAPES[character];
  if (short !== undefined) return short;
  if (PRINTABLE.test(character)) return character;
  const code = character.codePointAt(0)!;
  const hex = code.toString(16).toUpperCase();
  if (code <= 0xff) return `\\x${hex.padStart(2, "0")}`;
  return code <= 0xffff ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}

/** Letters after all else, and numbers within names by their value: `a2` comes before `a10`. */
function inNaturalOrder(a: string, b: string): number {
  let i = 0;
  while (i < a.length && i < b.length && a.charCodeAt(i) === b.charCodeAt(i)) i++;
  // Characters beyond the first plane count as a whole.
  if (i > 0 && isHighSurrogate(a.charCodeAt(i - 1))) i--;
  const [left, right] = [a.codePointAt(i), b.codePointAt(i)];
  if (left === undefined || right === undefined) return a.length - b.length;
  const [isLetter, isOtherLetter] = [LETTER.test(String.fromCodePoint(left)), LETTER.test(String.fromCodePoint(right))];
  if (isLetter !== isOtherLetter) return isOtherLetter ? -1 : 1;
  if (isLetter) return left - right;
  const [m, n] = [digitsAt(a, i), digitsAt(b, i)];
  // Zeros after other digits count as digits of the same number.
  const isInNumber = (left === ZERO || right === ZERO) && endsInNumber(a, i);
  return (isInNumber ? byValue(`1${m}`, `1${n}`) : byValue(m, n)) || m.length - n.length || left - right;
}

const LETTER = /\p{L}/u;
const ZERO = 48;
const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;
const isDigit = (code: number): boolean => code >= ZERO && code <= 57;

function digitsAt(text: string, start: number): string {
  let end = start;
  while (isDigit(text.charCodeAt(end))) end++;
  return text.slice(start, end);
}

/** Whether digits that are not all zeros stand in front of a place. */
function endsInNumber(text: string, end: number): boolean {
  for (let i = end - 1; isDigit(text.charCodeAt(i)); i--) if (text.charCodeAt(i) !== ZERO) return true;
  return false;
}

/** Compares numbers of any length. */
function byValue(a: string, b: string): number {
  const [m, n] = [a.replace(/^0+/, ""), b.replace(/^0+/, "")];
  if (m.length !== n.length) return m.length - n.length;
  return m < n ? -1 : m > n ? 1 : 0;
}
