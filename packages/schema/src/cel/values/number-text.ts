/** Numbers as Go writes and reads them. */

/** The shortest decimal digits that give the number back, and the power of ten of the first of them. */
function digitsOf(value: number): { digits: string; exponent: number } {
  const [mantissa, exponent] = Math.abs(value).toExponential().split("e") as [string, string];
  return { digits: mantissa.replace(".", ""), exponent: Number(exponent) };
}

function special(value: number): string | undefined {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  return undefined;
}

const sign = (value: number) => (value < 0 || Object.is(value, -0) ? "-" : "");

/** With an exponent where the number is large or small, as `%g` does: "1.5", "100000", "1e+06", "1e-05". */
export function formatShort(value: number): string {
  const word = special(value);
  if (word) return word;
  if (value === 0) return `${sign(value)}0`;
  const { digits, exponent } = digitsOf(value);
  if (exponent >= -4 && exponent < 6) return formatPlain(value);
  const fraction = digits.length > 1 ? `.${digits.slice(1)}` : "";
  const power = String(Math.abs(exponent)).padStart(2, "0");
  return `${sign(value)}${digits[0]}${fraction}e${exponent < 0 ? "-" : "+"}${power}`;
}

/** Without an exponent, as many digits as needed: "0.000001", "100000000000000000000000". */
export function formatPlain(value: number): string {
  const word = special(value);
  if (word) return word;
  if (value === 0) return `${sign(value)}0`;
  const { digits, exponent } = digitsOf(value);
  if (exponent < 0) return `${sign(value)}0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  const fraction = digits.slice(exponent + 1);
  return `${sign(value)}${whole}${fraction ? `.${fraction}` : ""}`;
}

const WORDS = /^([+-]?)(inf|infinity|nan)$/i;
const DECIMAL =
  /^[+-]?(?:[0-9](?:_?[0-9])*(?:\.(?:[0-9](?:_?[0-9])*)?)?|\.[0-9](?:_?[0-9])*)(?:[eE][+-]?[0-9](?:_?[0-9])*)?$/;
const HEX = /^([+-]?)0[xX]_?([0-9a-fA-F_]*)(?:\.([0-9a-fA-F_]*))?[pP]([+-]?[0-9_]+)$/;

/** Reads a floating-point number; undefined for text that is none and for numbers too large. */
export function parseFloat64(text: string): number | undefined {
  const word = WORDS.exec(text);
  if (word) {
    if (word[2]!.toLowerCase() === "nan") return word[1] === "" ? Number.NaN : undefined;
    return word[1] === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  }
  const value = DECIMAL.test(text) ? Number(text.replaceAll("_", "")) : parseHexFloat(text);
  return value !== undefined && Number.isFinite(value) ? value : undefined;
}

function parseHexFloat(text: string): number | undefined {
  const match = HEX.exec(text);
  if (!match) return undefined;
  const [, sign, whole, fraction = "", power] = match.map((part) => part?.replaceAll("_", "")) as string[];
  if (whole + fraction === "") return undefined;
  const value = Number(BigInt(`0x${whole}${fraction}`)) * 2 ** (Number(power) - 4 * fraction.length);
  return sign === "-" ? -value : value;
}

/** Reads a whole decimal number; undefined for text that is none. */
export function parseInteger(text: string): bigint | undefined {
  return /^[+-]?[0-9]+$/.test(text) ? BigInt(text.replace("+", "")) : undefined;
}
