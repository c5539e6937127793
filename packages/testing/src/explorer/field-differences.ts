import { isObject, type JsonObject } from "@konverge/core";

/** How many fields are listed; the others are counted. */
const LISTED = 3;
/** The longest text of a value. */
const LONGEST = 120;

/** A field in which two values differ: its path, and both values; undefined if a value does not exist. */
export interface FieldDifference {
  readonly path: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

/** How a value differs from the expected one, field by field: `data.text: expected "a", but it is "b"`. */
export function fieldDifferences(expected: unknown, actual: unknown): string {
  const found = differingFields(expected, actual).map(sentence);
  const more = found.length > LISTED ? [`and ${found.length - LISTED} more`] : [];
  return [...found.slice(0, LISTED), ...more].join("; ");
}

/** The fields in which two values differ. Items of lists are found by their type or name, if each has one. */
export function differingFields(expected: unknown, actual: unknown): FieldDifference[] {
  const found: FieldDifference[] = [];
  collect(expected, actual, "", found);
  return found;
}

function sentence({ path, expected, actual }: FieldDifference): string {
  const wanted = expected === undefined ? "nothing" : valueText(expected);
  return `${path === "" ? "it" : path}: expected ${wanted}, but it is ${valueText(actual)}`;
}

function collect(expected: unknown, actual: unknown, path: string, found: FieldDifference[]): void {
  if (JSON.stringify(expected) === JSON.stringify(actual)) return;
  const [one, other] = [documentIn(expected), documentIn(actual)];
  if (one && other) {
    collect(one, other, `${path} as JSON`, found);
    return;
  }
  const [a, b] = [membersOf(expected, actual), membersOf(actual, expected)];
  if (!a || !b) {
    found.push({ path, expected, actual });
    return;
  }
  for (const name of new Set([...a.keys(), ...b.keys()])) {
    const inner = name.startsWith("[") ? `${path}${name}` : path === "" ? name : `${path}.${name}`;
    collect(a.get(name), b.get(name), inner, found);
  }
}

/** The object or list that a text is the JSON of: which of its fields differ says more than the text. */
function documentIn(value: unknown): object | undefined {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return undefined;
  try {
    return JSON.parse(value) as object;
  } catch {
    return undefined;
  }
}

/** The members of an object or of a list by their part of the path; undefined if these two are not compared by members. */
function membersOf(value: unknown, other: unknown): Map<string, unknown> | undefined {
  if (isObject(value) && isObject(other)) {
    return new Map(Object.entries(value).map(([name, inner]) => [fieldName(name), inner]));
  }
  if (!Array.isArray(value) || !Array.isArray(other)) return undefined;
  const key = ["type", "name"].find((one) => isKeyedBy(one, value) && isKeyedBy(one, other));
  return new Map(value.map((item, i) => [`[${key === undefined ? i : (item as JsonObject)[key]}]`, item]));
}

function isKeyedBy(key: string, items: readonly unknown[]): boolean {
  const keys = items.map((item) => (isObject(item) ? item[key] : undefined));
  return keys.every((one) => typeof one === "string") && new Set(keys).size === keys.length;
}

const fieldName = (name: string) => (/^[\w-]+$/.test(name) ? name : `[${JSON.stringify(name)}]`);

/** A value as text that fits into a line. */
export function valueText(value: unknown): string {
  if (value === undefined) return "missing";
  const text = JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
