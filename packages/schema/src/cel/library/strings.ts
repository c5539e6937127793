/** The strings extension: everything counts in code points. */

import type { Library } from "../types/declarations.ts";
import { ListValue } from "../values/collections.ts";
import { valueText } from "../values/value-text.ts";
import type { CelList } from "../values/values.ts";
import { CelError, type Value } from "../values/values.ts";
import { formatString } from "./string-format.ts";

const outOfRange = (index: bigint) => new CelError(`index out of range: ${index}`);

function charAt(text: string, index: bigint): Value {
  const points = Array.from(text);
  if (index < 0n || index > BigInt(points.length)) return outOfRange(index);
  return points[Number(index)] ?? "";
}

function indexOf(text: string, part: string, offset = 0n): Value {
  if (part === "") return offset;
  if (offset < 0n) return outOfRange(offset);
  const points = Array.from(text);
  const parts = Array.from(part);
  for (let i = Number(offset); i <= points.length - parts.length; i++) if (isAt(points, parts, i)) return BigInt(i);
  return -1n;
}

function lastIndexOf(text: string, part: string, offset?: bigint): Value {
  const points = Array.from(text);
  if (part === "") return offset ?? BigInt(points.length);
  const parts = Array.from(part);
  if (offset === undefined && new TextEncoder().encode(text).length < new TextEncoder().encode(part).length) return -1n;
  const from = offset ?? BigInt(points.length - 1);
  if (from < 0n) return outOfRange(from);
  if (from >= BigInt(points.length)) return -1n;
  for (let i = Math.min(Number(from), points.length - parts.length); i >= 0; i--)
    if (isAt(points, parts, i)) return BigInt(i);
  return -1n;
}

function isAt(points: readonly string[], parts: readonly string[], index: number): boolean {
  return parts.every((part, i) => points[index + i] === part);
}

function replace(text: string, part: string, by: string, limit = -1n): Value {
  if (limit < 0n) return part === "" ? interleave(text, by, Number.POSITIVE_INFINITY) : text.replaceAll(part, () => by);
  const most = Number(limit);
  if (part === "") return interleave(text, by, most);
  const pieces = text.split(part);
  const replaced = Math.min(most, pieces.length - 1);
  return (
    pieces.slice(0, replaced + 1).join(by) +
    pieces
      .slice(replaced + 1)
      .map((piece) => part + piece)
      .join("")
  );
}

/** An empty string is found before every character and at the end. */
function interleave(text: string, by: string, most: number): string {
  const points = Array.from(text);
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
  const points = Array.from(text);
  const length = BigInt(points.length);
  if (end !== undefined && start > end) return new CelError(`invalid substring range. start: ${start}, end: ${end}`);
  for (const index of [start, end ?? start]) if (index < 0n || index > length) return outOfRange(index);
  return points.slice(Number(start), end === undefined ? undefined : Number(end)).join("");
}

/** Unicode's white space, as Go's strings.TrimSpace sees it. */
const SPACE = "[\\t\\n\\v\\f\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
const OUTER_SPACE = new RegExp(`^${SPACE}+|${SPACE}+$`, "g");

/** The string without white space at its ends. */
export function trimSpace(text: string): string {
  return text.replace(OUTER_SPACE, "");
}

function join(list: CelList, separator = ""): Value {
  const parts: string[] = [];
  for (const item of list) {
    if (typeof item !== "string") return new CelError(`join: invalid input: ${valueText(item)}`);
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
  return `"${Array.from(text, (c) => QUOTED[c] ?? c).join("")}"`;
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
