/**
 * Protobuf bodies of built-in kinds, as typed Go clients send them.
 *
 * A body is an envelope (four magic bytes, then a message that names the kind and holds the object's own bytes). Which
 * field has which number and form is told by the kind's schema (`go.proto`), so nothing here knows a kind. Decoding
 * gives the very JSON that a JSON body of the same object would: Go writes zero values to the wire for all that is not a
 * pointer, and leaves them out of JSON where the field says so.
 *
 * A body that is not what it should be is refused with 400.
 */
import { type GroupVersionKind, gvkOf, isTooDeep, type Schema } from "@konverge/core";
import { builtinSchema } from "@konverge/kinds";
import type { JsonObject } from "../patch/index.ts";
import { decodeMessage } from "./decode.ts";
import { encodeMessage } from "./encode.ts";
import { openEnvelope, sealEnvelope } from "./envelope.ts";
import { malformed, WireReader } from "./wire.ts";

export { zeroObject } from "./decode.ts";
export { type Envelope, MAGIC, openEnvelope, PROTOBUF_MEDIA_TYPE, sealEnvelope } from "./envelope.ts";

/** What a body without apiVersion or kind is taken to be, and where schemas come from. */
export interface ProtobufOptions {
  default?: GroupVersionKind;
  schemaOf?: (gvk: GroupVersionKind) => Schema | undefined;
}

/**
 * The object in a body of media type `application/vnd.kubernetes.protobuf`. Options kinds (DeleteOptions …) may come
 * under any group and version.
 */
export function decodeProtobuf(body: Uint8Array, options: ProtobufOptions = {}): JsonObject {
  const envelope = openEnvelope(body);
  const fallback = options.default;
  const kind = envelope.kind || fallback?.kind || "";
  const apiVersion = envelope.apiVersion || (fallback ? apiVersionText(fallback) : "");
  if (kind === "") throw malformed("Object 'Kind' is missing in the protobuf message");
  if (apiVersion === "") throw malformed("Object 'apiVersion' is missing in the protobuf message");
  const gvk = gvkOf({ apiVersion, kind });
  const schema = (options.schemaOf ?? builtinSchemaOf)(gvk);
  if (!schema) throw malformed(`no kind "${kind}" is registered for version "${apiVersion}"`);
  return { apiVersion, kind, ...decodeRaw(envelope.raw, schema) };
}

/** The object in the bytes of an opened envelope, of a kind that is known. */
export function decodeRaw(raw: Uint8Array, schema: Schema): JsonObject {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  const object = decodeMessage(new WireReader(bytes), schema);
  if (isTooDeep(object)) throw malformed("exceeded max depth");
  return object;
}

/** A body that {@link decodeProtobuf} reads. */
export function encodeProtobuf(object: JsonObject, options: ProtobufOptions = {}): Buffer {
  const { apiVersion, kind } = object as { apiVersion: string; kind: string };
  const gvk = gvkOf({ apiVersion, kind });
  const schema = (options.schemaOf ?? builtinSchemaOf)(gvk);
  if (!schema) throw new Error(`there is no schema of ${kind} in ${apiVersion}`);
  return sealEnvelope({ apiVersion, kind, raw: encodeMessage(object, schema) });
}

function builtinSchemaOf({ group, version, kind }: GroupVersionKind): Schema | undefined {
  try {
    return builtinSchema(group, version, kind);
  } catch {
    // It throws for what is not built in.
    return undefined;
  }
}

function apiVersionText({ group, version }: GroupVersionKind): string {
  return group === "" ? version : `${group}/${version}`;
}
