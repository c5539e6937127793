/** Functions that expressions in templates have beyond those of Kubernetes' rules: JSON, base64, merging of maps, a hash. */
import { parseJson, stringifyJson } from "@konverge/core";
import type { Library } from "../types/declarations.ts";
import { fromJson, isView } from "../values/json-value.ts";
import { NotJson, toJson } from "../values/to-json.ts";
import { CelError, type CelMap, type Value } from "../values/values.ts";

export const documents: Library = {
  overloads: [
    ["json_unmarshal_string", "json.unmarshal(string): dyn", unmarshal],
    ["json_marshal_dyn", "json.marshal(dyn): string", marshal],
    ["base64_encode_bytes", "base64.encode(bytes): string", (data: Uint8Array) => Buffer.from(data).toString("base64")],
    ["base64_decode_string", "base64.decode(string): bytes", decode],
    ["map_merge", "map(A, B).merge(map(A, B)): map(A, B)", merge],
    ["hash_fnv64a_string", "hash.fnv64a(string): bytes", fnv64a],
  ],
};

function unmarshal(text: string): Value {
  try {
    return fromJson(parseJson(text));
  } catch (error) {
    return new CelError(`json.unmarshal: ${(error as Error).message}`);
  }
}

function marshal(value: Value): Value {
  try {
    return stringifyJson(isView(value) ? value.raw : toJson(value, (int) => int));
  } catch (error) {
    if (error instanceof NotJson) return new CelError(`json.marshal: ${error.message}`);
    throw error;
  }
}

function decode(text: string): Value {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return new CelError("base64.decode: the text is not base64");
  return new Uint8Array(Buffer.from(text, "base64"));
}

/** Entries of the second map replace those of the first. */
function merge(one: CelMap, other: CelMap): Value {
  const merged: Record<string, unknown> = {};
  for (const map of [one, other]) {
    for (const key of map.keys()) {
      if (typeof key !== "string") return new CelError("merge: the keys of both maps must be strings");
      const value = map.find(key) ?? null;
      merged[key] = isView(value) ? value.raw : toJson(value, (int) => int);
    }
  }
  return fromJson(merged);
}

/** The 64-bit hash of Fowler, Noll and Vo, variant 1a, in the order of bytes in which Go writes it. */
function fnv64a(text: string): Value {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return Uint8Array.from({ length: 8 }, (_, i) => Number((hash >> BigInt(8 * (7 - i))) & 0xffn));
}
