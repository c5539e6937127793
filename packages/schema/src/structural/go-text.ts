import { goFloat, isObject } from "../patch/index.ts";
import { isInt64, isNumeric } from "./numbers.ts";

/** A number as `%v` prints it: what servers take for an integer in full, all else as a float. */
export function goNumber(value: number | bigint): string {
  return isInt64(value) ? String(BigInt(value)) : goFloat(Number(value));
}

/** JSON as Go's encoder writes it: keys sorted, and what could be HTML escaped. */
export function goJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goJson).join(",")}]`;
  if (isObject(value)) {
    const fields = Object.keys(value)
      .sort()
      .map((key) => `${goJson(key)}:${goJson(value[key])}`);
    return `{${fields.join(",")}}`;
  }
  if (isNumeric(value)) return String(value);
  return JSON.stringify(value ?? null).replace(/[<>&\u2028\u2029]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
