import { type GroupVersionKind, gvkOf, isTooDeep, type JsonObject, type Schema } from "@konverge/core";
import { builtinSchema, type KubernetesFacts } from "@konverge/kinds";
import { decodeMessage } from "./decode.ts";
import { openEnvelope } from "./envelope.ts";
import { malformed, WireReader } from "./wire.ts";

/** What a body without apiVersion or kind is taken to be, and where schemas come from. */
export interface ProtobufOptions {
  default?: GroupVersionKind;
  /** The version of Kubernetes whose kinds are built in. Default: the default one. */
  facts?: KubernetesFacts;
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
  const schema = options.schemaOf ? options.schemaOf(gvk) : builtinSchemaOf(gvk, options.facts);
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

function builtinSchemaOf({ group, version, kind }: GroupVersionKind, facts?: KubernetesFacts): Schema | undefined {
  try {
    return builtinSchema(group, version, kind, facts);
  } catch {
    // It throws for what is not built in.
    return undefined;
  }
}

function apiVersionText({ group, version }: GroupVersionKind): string {
  return group === "" ? version : `${group}/${version}`;
}
