import type { JsonObject } from "@konverge/core";
import type { MergeType } from "./merge-type.ts";

/** An object in a version of its kind. */
export interface Typed {
  readonly object: JsonObject;
  readonly type: MergeType;
  readonly apiVersion: string;
}

/** Converts an object to another version; undefined when there is no such version (any more). */
export type Converter = (typed: Typed, apiVersion: string) => Typed | undefined;
