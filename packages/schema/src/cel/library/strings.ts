/** The strings extension: everything counts in code points. */

import type { Library } from "../types/declarations.ts";
import { codePointLength, pointAt, pointOf, unitOf } from "../values/code-points.ts";
import { ListValue } from "../values/collections.ts";
import { checkCharacters } from "../values/limits.ts";
import { valueText } from "../values/value-text.ts";
import type { CelList } from "../values/values.ts";
import { CelError, type Value } from "../values/values.ts";
import { formatString } from "./string-format.ts";

const outOfRange = (index: bigint) => new CelError(`index out of range: ${index}`);

function charAt(text: string, index: bigint): Value {
  if (index < 0n || index > BigInt(codePointLength(text))) return outOfRange(index);
  return pointAt(text, Number(index)) ?? "";
}

function indexOf(text: string, part: string, offset = 0n): Value {
  if (part === "") return offset;
  if (offset < 0n) return outOfRange(offset);
  const start = offset > BigInt(text.length) ? undefined : unitOf(text, Number(offset));
  const found = start === undefined ? -1 : text.indexOf(part, start);
  return BigInt(found < 0 ? -1 : pointOf(text, found));
}

function lastIndexOf(text: string, part: string, offset?: bigint): Value {
  if (part === "") return offset ?? BigInt(codePointLength(text));
  if (offset === undefined && new TextEncoder().encode(text).length < new TextEncoder().encode(part).length) return -1n;
  const length = BigInt(codePointLength(text));
  const from = offset ?? length - 1n;
  if (from < 0n) return outOfRange(from);
  if (from >= length) return -1n;
  const end = unitOf(text, Number(from))! + part.length;
  const found = lastUnit(text.slice(0, end), part);
  return BigInt(found < 0 ? -1 : pointOf(text, found));
}

/** Forwards, a search takes linear time whatever the texts; lastIndexOf compares the whole part at every place. */
function lastUnit(text: string, part: string): number {
  const found = reversed(text).indexOf(reversed(part));
  return found < 0 ? -1 : text.length - found - part.length;
}

/** Of units: two that are reversed in both texts match as well as before. */
function reversed(text: string): string {
  return text.split("").reverse().join("");
}

function replace(text: string, part: string, by: string, limit = -1n): Value {
  const most = limit < 0n ? Number.POSITIVE_INFINITY : Number(limit);
  if (part === "") return interleave(text, by, most);
  const pieces = text.split(part);
  const replaced = Math.min(most, pieces.length - 1);
  checkCharacters(text.length + replaced * (by.length - part.length));
  const changed = pieces.slice(0, replaced + 1).join(by);
  return replaced === pieces.length - 1 ? changed : [changed, ...pieces.slice(replaced + 1)].join(part);
}

/** An empty string is found before every character and at the end. */
function interleave(text: string, by: string, most: number): string {
  const points = Array.from(text);
  checkCharacters(text.length + Math.min(most, points.length + 1) * by.length);
  return [...points, ""].map((point, i) => (i < most ? by : "") + point).join("");
}

function split(text: string, separator: string, limit = -1n): Value {
  if (limit === 0n) return new ListValue([]);
  const pieces = separator === "" ? Array.from(text) : text.split(separator);
  const most = limit < 0n ? pieces.length : Number(limit);
  if (pieces.length <= most) return new ListValue(pieces);
  return new ListValue([...pieces.slice(0, most - 1), pieces.slice(most - 1).join(separator)]);
}

function substring(text: string, start: bigint, end?: bigint): Value {
  const length = BigInt(codePointLength(text));
  if (end !== undefined && start > end) return new CelError(`invalid substring range. start: ${start}, end: ${end}`);
  for (const index of [start, end ?? start]) if (index < 0n || index > length) return outOfRange(index);
  return text.slice(unitOf(text, Number(start)), end === undefined ? undefined : unitOf(text, Number(end)));
}

/** Unicode's white space, as Go's strings.TrimSpace sees it. */
const SPACE = /[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

/** The string without white space at its ends. */
export function trimSpace(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && SPACE.test(text[start]!)) start++;
  while (end > start && SPACE.test(text[end - 1]!)) end--;
  return text.slice(start, end);
}

function join(list: CelList, separator = ""): Value {
  const parts: string[] = [];
  let length = 0;
  for (const item of list) {
    if (typeof item !== "string") return new CelError(`join: invalid input: ${valueText(item)}`);
    length += item.length + separator.length;
    checkCharacters(length);
    parts.push(item);
  }
  return parts.join(separator);
}

const QUOTED: Record<string, string> = {
  "\x07": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  "\\": "\\\\",
  '"': '\\"',
};

function quote(text: string): Value {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is escaped
  return `"${text.replace(/["\\\x07\b\f\n\r\t\v]/g, (character) => QUOTED[character]!)}"`;
}

/** Functions of strings. */
export const strings: Library = {
  overloads: [
    ["string_char_at_int", "string.charAt(int): string", charAt],
    ["string_index_of_string", "string.indexOf(string): int", indexOf],
    ["string_index_of_string_int", "string.indexOf(string, int): int", indexOf],
    ["string_last_index_of_string", "string.lastIndexOf(string): int", lastIndexOf],
    ["string_last_index_of_string_int", "string.lastIndexOf(string, int): int", lastIndexOf],
    ["string_lower_ascii", "string.lowerAscii(): string", (s: string) => s.replace(/[A-Z]+/g, (c) => c.toLowerCase())],
    ["string_replace_string_string", "string.replace(string, string): string", replace],
    ["string_replace_string_string_int", "string.replace(string, string, int): string", replace],
    ["string_split_string", "string.split(string): list(string)", split],
    ["string_split_string_int", "string.split(string, int): list(string)", split],
    ["string_substring_int", "string.substring(int): string", substring],
    ["string_substring_int_int", "string.substring(int, int): string", substring],
    ["string_trim", "string.trim(): string", trimSpace],
    ["string_upper_ascii", "string.upperAscii(): string", (s: string) => s.replace(/[a-z]+/g, (c) => c.toUpperCase())],
    ["string_format", "string.format(list(dyn)): string", formatString],
    ["strings_quote", "strings.quote(string): string", quote],
    ["list_join", "list(string).join(): string", join],
    ["list_join_string", "list(string).join(string): string", join],
  ],
};
