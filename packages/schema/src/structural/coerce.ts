import type { FieldError, Schema } from "@konverge/core";
import { dropForbiddenNulls } from "./defaulting.ts";
import { coerceEmbedded } from "./embedded-resources.ts";
import { pruneUnknownFields } from "./pruning.ts";

/** What came of coercing an object. */
export interface Coerced {
  /** The fields that were dropped because the schema does not have them: `spec.replcas`. */
  unknown: string[];
  /** Embedded metadata that cannot be decoded: servers refuse the request. */
  error?: FieldError;
}

export interface CoerceOptions {
  /** What becomes of nulls that are not allowed and have no default. */
  nulls?: "dropped" | "kept";
}

/**
 * Makes an object fit its schema, in place, as servers do when they read a request: unknown fields go, as do nulls that
 * are not allowed and have no default, and the metadata of embedded resources is decoded. The metadata of the object
 * itself is left to decodeMetadata. What an apply has put together keeps its `nulls`, which validation then refuses.
 */
export function coerce(schema: Schema, object: unknown, { nulls = "dropped" }: CoerceOptions = {}): Coerced {
  const unknown = pruneUnknownFields(schema, object);
  if (nulls === "dropped") dropForbiddenNulls(schema, object);
  const embedded = coerceEmbedded(schema, object);
  return "error" in embedded ? { unknown, error: embedded.error } : { unknown: [...unknown, ...embedded.dropped] };
}
