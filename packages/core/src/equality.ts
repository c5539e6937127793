import { WholeFloat } from "./json.ts";

/** Whether two JSON values are equal, in any order of keys. A bigint equals the number with its value. */
export function deepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return sameNumber(a, b);
  if (a instanceof WholeFloat || b instanceof WholeFloat) return sameNumber(a, b);
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, i) => deepEqual(item, b[i]));
  }
  return sameKeys(a as Record<string, unknown>, b as Record<string, unknown>);
}

function sameKeys(a: Record<string, unknown>, b: Record<string, unknown>): boolean {
  let count = 0;
  for (const key in a) {
    if (a[key] === undefined) continue;
    if (!Object.hasOwn(b, key) || !deepEqual(a[key], b[key])) return false;
    count++;
  }
  for (const key in b) if (b[key] !== undefined) count--;
  return count === 0;
}

function sameNumber(a: unknown, b: unknown): boolean {
  const [x, y] = [plainNumber(a), plainNumber(b)];
  // Loose on purpose: it compares a bigint and a number by value.
  // biome-ignore lint/suspicious/noDoubleEquals: the types are checked, and 1n == 1 is what is wanted.
  return x !== undefined && y !== undefined && x == y;
}

function plainNumber(value: unknown): number | bigint | undefined {
  if (value instanceof WholeFloat) return value.value;
  return typeof value === "number" || typeof value === "bigint" ? value : undefined;
}
