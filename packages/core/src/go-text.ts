/**
 * JSON values in the dress that Go gives them: kubectl's output, table cells and error messages show them this way.
 * Numbers are int64 when whole and in range, otherwise float64; see {@link WholeFloat}.
 */
import { WholeFloat } from "./json.ts";

/** As `fmt.Sprint` prints a value: `map[a:1 b:[x y]]`, `<nil>`, `1e+21`. */
export function goText(value: unknown): string {
  if (value === null || value === undefined) return "<nil>";
  if (value instanceof WholeFloat) return goFloat(value.value);
  if (typeof value === "number") return isGoInteger(value) ? String(value) : goFloat(value);
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value)) return `[${value.map(goText).join(" ")}]`;
  const entries = Object.entries(value).sort(byName);
  return `map[${entries.map(([name, item]) => `${name}:${goText(item)}`).join(" ")}]`;
}

/** The Go type that a JSON value is decoded to. */
export function goType(value: unknown): string {
  if (value === null || value === undefined) return "<nil>";
  if (Array.isArray(value)) return "[]interface {}";
  if (value instanceof WholeFloat) return "float64";
  switch (typeof value) {
    case "boolean":
      return "bool";
    case "string":
      return "string";
    case "bigint":
      return "int64";
    case "number":
      return isGoInteger(value) ? "int64" : "float64";
    default:
      return "map[string]interface {}";
  }
}

/** As `json.Marshal` writes a value: keys sorted, and `<`, `>`, `&` escaped. */
export function toGoJson(value: unknown): string {
  return sortedJson(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function sortedJson(value: unknown): string {
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null || value instanceof WholeFloat)
    return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(",")}]`;
  const entries = Object.entries(value).sort(byName);
  return `{${entries.map(([name, item]) => `${JSON.stringify(name)}:${sortedJson(item)}`).join(",")}}`;
}

function byName([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function isGoInteger(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) < 2 ** 63;
}

/** Shortest digits, as JavaScript has them, but with an exponent from 10^6 up and below 10^-4, of two digits at least. */
function goFloat(value: number): string {
  const scientific = value.toExponential();
  const exponent = Number(scientific.slice(scientific.indexOf("e") + 1));
  if (exponent >= -4 && exponent < 6) return String(value);
  return scientific.replace(/e([+-])([0-9])$/, "e$10$2");
}
