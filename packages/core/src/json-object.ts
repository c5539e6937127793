import { WholeFloat } from "./json.ts";

/** An object as JSON.parse and parseJson give it. */
export type JsonObject = { [key: string]: unknown };

/** Whether a JSON value is an object: neither a list nor null, nor a number that parseJson keeps apart. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof WholeFloat);
}
