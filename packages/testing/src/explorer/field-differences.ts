import { isObject, type JsonObject } from "@konverge/core";

/** How many fields are listed; the others are counted. */
const LISTED = 3;
/** The longest text of a value. */
const LONGEST = 120;

/** How a value differs from the expected one, field by field: `data.text: expected "a", but it is "b"`. */
export function fieldDifferences(expected: unknown, actual: unknown): string {
  const found: string[] = [];
  collect(expected, actual, "", found);
  const more = found.length > LISTED ? [`and ${found.length - LISTED} more`] : [];
  return [...found.slice(0, LISTED), ...more].join("; ");
}

function collect(expected: unknown, actual: unknown, path: string, found: string[]): void {
  if (JSON.stringify(expected) === JSON.stringify(actual)) return;
  const [a, b] = [membersOf(expected, actual), membersOf(actual, expected)];
  if (!a || !b) {
    const wanted = expected === undefined ? "nothing" : textOf(expected);
    found.push(`${path === "" ? "it" : path}: expected ${wanted}, but it is ${textOf(actual)}`);
    return;
  }
  for (const name of new Set([...a.keys(), ...b.keys()])) {
    const inner = name.startsWith("[") ? `${path}${name}` : path === "" ? name : `${path}.${name}`;
    collect(a.get(name), b.get(name), inner, found);
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

function textOf(value: unknown): string {
  if (value === undefined) return "missing";
  const text = JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
