import { DecodeError } from "./decode-error.ts";

/** A number beyond 64-bit floating point has an exponent of three digits, or hundreds of digits. Other texts match, too. */
const SUSPICIOUS = /[0-9][eE]\+?[0-9]{3}|[0-9]{200}|\.inf|\.nan/i;
const NUMBERS = /[-+]?[0-9][0-9.]*(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|nan)/gi;

/** Refuses numbers that JavaScript has read as infinite, or as none: they would be stored as null. */
export function checkFinite(value: unknown, text: string): void {
  if (!SUSPICIOUS.test(text) || isKept(value)) return;
  const source = text.match(NUMBERS)?.find((number) => !Number.isFinite(Number(number))) ?? "";
  throw new DecodeError(`json: cannot unmarshal number ${source} into Go value of type float64`);
}

function isKept(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || value === null) return true;
  return Array.isArray(value) ? value.every(isKept) : Object.values(value).every(isKept);
}
