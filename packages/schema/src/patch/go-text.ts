import { isObject, type JsonObject } from "./json-value.ts";

/**
 * Values as Go's fmt package prints them, because the API server's messages quote them that way and those messages are
 * protocol: `map[image:nginx name:web]`, `[]interface {}`.
 */
export function goPrint(value: unknown): string {
  if (value === null || value === undefined) return "<nil>";
  if (typeof value === "number") return Number.isInteger(value) ? String(BigInt(value)) : goFloat(value);
  if (Array.isArray(value)) return `[${value.map(goPrint).join(" ")}]`;
  if (isObject(value)) {
    const entries = sortedKeys(value).map((key) => `${key}:${goPrint(value[key])}`);
    return `map[${entries.join(" ")}]`;
  }
  return String(value);
}

/** A value as `%#v` prints it. */
export function goSyntax(value: unknown): string {
  if (value === null || value === undefined) return "interface {}(nil)";
  if (typeof value === "string") return goQuote(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(", ")}}`;
  if (isObject(value)) {
    const entries = sortedKeys(value).map((key) => `${goQuote(key)}:${goSyntax(value[key])}`);
    return `map[string]interface {}{${entries.join(", ")}}`;
  }
  return goPrint(value);
}

/** The Go type that a decoded JSON value has. */
export function goType(value: unknown): string {
  if (value === null || value === undefined) return "%!s(<nil>)";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "bigint") return "int64";
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  if (typeof value === "string") return "string";
  return Array.isArray(value) ? "[]interface {}" : "map[string]interface {}";
}

/** A number as `%v` prints a float64: with an exponent from a million up, and below a ten-thousandth. */
export function goFloat(value: number): string {
  const [mantissa, power] = value.toExponential().split("e") as [string, string];
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 6) return String(value);
  const digits = String(Math.abs(exponent)).padStart(2, "0");
  return `${mantissa}e${exponent < 0 ? "-" : "+"}${digits}`;
}

/** A string as `%q` prints it. */
export function goQuote(text: string): string {
  let quoted = '"';
  for (const character of text) {
    const code = character.codePointAt(0)!;
    const short = SHORT_ESCAPES[character];
    if (short !== undefined) quoted += short;
    else if (code < 0x20 || code === 0x7f) quoted += `\\x${code.toString(16).padStart(2, "0")}`;
    else if (isPrintable(character)) quoted += character;
    else if (code < 0x10000) quoted += `\\u${code.toString(16).padStart(4, "0")}`;
    else quoted += `\\U${code.toString(16).padStart(8, "0")}`;
  }
  return `${quoted}"`;
}

const SHORT_ESCAPES: Record<string, string> = {
  '"': '\\"',
  "\\": "\\\\",
  "\u0007": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
};

const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

/** What Go's unicode.IsPrint accepts: letters, marks, numbers, punctuation, symbols and the plain space. */
export function isPrintable(character: string): boolean {
  return PRINTABLE.test(character);
}

function sortedKeys(object: JsonObject): string[] {
  return Object.keys(object).sort();
}
