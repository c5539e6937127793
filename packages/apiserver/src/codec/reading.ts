import type { Mismatch } from "./go-values.ts";

/** Where a decoder is: for messages, and to collect what the kind does not know. */
export interface Reading {
  /** The path with indexes and keys of maps: how unknown fields are named. */
  readonly path: (string | number)[];
  /** The fields of structs alone: how Go's errors name a place. */
  readonly fields: string[];
  /** The struct that is being read. */
  struct: string;
  readonly unknown: string[];
  /** Go reads on after a value of the wrong type, and reports the first. */
  error: string | undefined;
  readonly words: DecoderWords;
  /** Notes that a value does not fit. */
  readonly mismatch: Mismatch;
  /** Parts of the whole that have been read before. */
  readonly known: Readonly<Record<string, unknown>>;
}

/** Two decoders find fault in different words: that of JSON texts, and that of maps which patches have made. */
export type DecoderWords = "json" | "map";

/** `spec.containers[0].nme`. */
export function pathText(path: readonly (string | number)[]): string {
  return path
    .map((step) => (typeof step === "number" ? `[${step}]` : step))
    .join(".")
    .replaceAll(".[", "[");
}

/** Notes the first value that does not fit. */
export function mismatch(reading: Reading, what: string, type: string): undefined {
  reading.error ??= reading.words === "json" ? jsonComplaint(reading, what, type) : mapComplaint(what, type);
  return undefined;
}

function jsonComplaint({ struct, fields }: Reading, what: string, type: string): string {
  const where = struct === "" ? "Go value" : `Go struct field ${struct}.${fields.join(".")}`;
  return `json: cannot unmarshal ${what} into ${where} of type ${type}`;
}

function mapComplaint(what: string, type: string): string {
  const kind = /^number .*\./.test(what) ? "float64" : (MAP_KINDS[what.split(" ")[0]!] ?? what);
  if (type.startsWith("[]")) return `cannot restore slice from ${kind}`;
  if (type.startsWith("map[")) return `cannot restore map from ${kind}`;
  if (type.includes(".")) return `cannot restore struct from: ${kind}`;
  const isConvertible = kind === "int64" || (kind === "float64" && type.startsWith("int"));
  return isConvertible ? `cannot convert ${kind} to ${type}` : `unrecognized type: ${type}`;
}

const MAP_KINDS: Record<string, string> = { number: "int64", object: "map", array: "slice" };
