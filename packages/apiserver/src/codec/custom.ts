import { deepCopy, type Schema } from "@konverge/core";
import { applyDefaults, coerce, decodeMetadata, MetadataError } from "@konverge/schema";
import { isObject } from "@konverge/schema/patch";
import type { Codec, Decoded } from "./codec.ts";
import { DecodeError } from "./decode-error.ts";
import { keepReset } from "./managed-fields-reset.ts";
import type { WorkingObject } from "./working-object.ts";

/** The codec of a custom resource, from the schema of one of its versions. */
export function customCodec(schema: Schema): Codec {
  const decode = (value: unknown, isMerged: boolean): Decoded => {
    if (!isObject(value)) throw new DecodeError("the body is not an object");
    const object = deepCopy(value) as WorkingObject;
    const { metadata, unknown } = metadataOf(object, isMerged ? "dropped" : "refused");
    object.metadata = metadata;
    const coerced = coerce(schema, object, { nulls: isMerged ? "kept" : "dropped" });
    if (coerced.error) throw new DecodeError(`${coerced.error.field}: ${coerced.error.message}`);
    const names = [...unknown.map((name) => `metadata.${name}`), ...coerced.unknown];
    return { object: keepReset(object, value), unknown: names.sort() };
  };
  return {
    decode: (value) => decode(value, false),
    decodeMerged: (value) => decode(value, true).object,
    applyDefaults: (object) => void applyDefaults(schema, object),
    canonical: (object) => sortKeys(object) as WorkingObject,
    zero: {},
  };
}

function metadataOf(
  object: WorkingObject,
  misfits: "dropped" | "refused",
): { metadata: WorkingObject["metadata"]; unknown: readonly string[] } {
  try {
    const { metadata, unknown } = decodeMetadata(object.metadata, misfits);
    return { metadata: metadata as unknown as WorkingObject["metadata"], unknown };
  } catch (error) {
    throw error instanceof MetadataError ? new DecodeError(error.message) : error;
  }
}

/** Keys in the order in which Go writes those of a map. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isObject(value)) return value;
  const keys = Object.keys(value).filter((key) => value[key] !== undefined);
  return Object.fromEntries(keys.sort().map((key) => [key, sortKeys(value[key])]));
}
