/**
 * Between the bytes of a request, objects as the verbs handle them, and the text that is stored and served.
 *
 * A real API server decodes the objects of built-in kinds into Go structs, and what it later writes is what those structs
 * hold: fields in the order of their declaration, structs that are no pointers always there, zero values left out where
 * the field says so, quantities and times in one form. {@link typedCodec} does the same from the facts of the kind, so an
 * object is in that form from the moment it is read. Custom resources ({@link customCodec}) are maps over there: pruned
 * by their schema, with keys in alphabetical order.
 */
import type { AnyObject } from "@konverge/core";
import type { JsonObject } from "@konverge/schema/patch";
import type { DecoderWords } from "./reading.ts";
import type { WorkingObject } from "./working-object.ts";

/** An object that was read, and the fields it had that the kind does not know: `spec.replcas`. */
export interface Decoded {
  readonly object: WorkingObject;
  readonly unknown: readonly string[];
}

/** Reads and writes the objects of one version of a kind. */
export interface Codec {
  /**
   * Reads a JSON value into a new object; throws a {@link DecodeError}. No defaults are filled in. A part of it
   * that is the very one in `known`, which has been read before, may be used as it is.
   */
  decode(value: unknown, words?: DecoderWords, known?: Readonly<Record<string, unknown>>): Decoded;
  /**
   * Reads what an apply has put together; throws a {@link DecodeError}. A custom resource keeps nulls, for validation to refuse:
   * a map of which an apply takes away all that is in it is one. Of its metadata, fields that do not fit are dropped.
   */
  decodeMerged(value: unknown): WorkingObject;
  /** Fills in the defaults that the schema has, in place. */
  applyDefaults(object: WorkingObject): void;
  /** The object in the form in which it is stored and served: key order, zero values. Shares parts with what it is given. */
  canonical(object: AnyObject): AnyObject;
  /** The object that managedFields of a create are compared with. */
  readonly zero: JsonObject;
}
