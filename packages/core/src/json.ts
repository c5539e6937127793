/**
 * JSON that keeps what JavaScript's own loses: integers beyond 2^53 become bigint and are written back digit for digit.
 * Everything else is plain JSON.parse, which is several times faster, so the text is first searched for digits that
 * could be lost.
 */
const LONG_INTEGER = /[0-9]{16}/;

export function parseJson(text: string): unknown {
  return LONG_INTEGER.test(text) ? JSON.parse(text, keepLongIntegers) : JSON.parse(text);
}

function keepLongIntegers(this: unknown, _key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  return source !== undefined && /^-?[0-9]+$/.test(source) ? BigInt(source) : value;
}

declare global {
  interface JSON {
    rawJSON(text: string): object;
  }
}

export function stringifyJson(value: unknown, indent?: number): string {
  return containsBigint(value)
    ? JSON.stringify(value, (_key, item) => (typeof item === "bigint" ? JSON.rawJSON(String(item)) : item), indent)
    : JSON.stringify(value, undefined, indent);
}

function containsBigint(value: unknown): boolean {
  if (typeof value === "bigint") return true;
  if (typeof value !== "object" || value === null) return false;
  for (const key in value) if (containsBigint((value as Record<string, unknown>)[key])) return true;
  return false;
}
