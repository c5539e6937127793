import { exceeds64Bits } from "./long-integer.ts";

/** A field that is a number or, as in "25%" or a port's name, text. */
export type IntOrString = number | string;

/**
 * The number that a count or a percentage of `total` stands for: 3 is 3, "25%" of 10 is 3 rounded up and 2 rounded
 * down. Throws, with Kubernetes' message, for text that is not a percentage.
 */
export function resolveIntOrPercent(value: IntOrString | undefined, total: number, rounding: "up" | "down"): number {
  if (value === undefined || value === null) throw new Error("nil value for IntOrString");
  if (typeof value === "number") return value;
  if (!value.endsWith("%")) {
    throw new Error("invalid value for IntOrString: invalid type: string is not a percentage");
  }
  const percent = parsePercent(value);
  const scaled = (percent * total) / 100;
  return (rounding === "up" ? Math.ceil(scaled) : Math.floor(scaled)) + 0; // never -0
}

function parsePercent(text: string): number {
  const digits = text.slice(0, -1);
  const fail = (why: string) =>
    new Error(
      `invalid value for IntOrString: invalid value ${JSON.stringify(text)}: strconv.Atoi: parsing ${JSON.stringify(digits)}: ${why}`,
    );
  if (!/^[+-]?[0-9]+$/.test(digits)) throw fail("invalid syntax");
  if (exceeds64Bits(digits)) throw fail("value out of range");
  const value = BigInt(digits);
  if (value !== BigInt.asIntN(64, value)) throw fail("value out of range");
  return Number(value);
}
