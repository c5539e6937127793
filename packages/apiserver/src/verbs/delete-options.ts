import { badRequest, type Schema } from "@konverge/core";
import { definitionSchema } from "@konverge/kinds";
import { decodeProtobuf, PROTOBUF_MEDIA_TYPE } from "@konverge/schema/protobuf";
import type { Call } from "../call/call.ts";
import { DecodeError } from "../codec/decode-error.ts";
import { readAs, shapeOf } from "../codec/struct-shape.ts";
import { parseYamlText } from "../codec/yaml-text.ts";
import { bodyBytes, bodyText, contentType, unsupportedMediaType } from "../http/bodies.ts";
import { checkDeleteOptions, type DeleteOptions, deleteParameters } from "../http/query.ts";
import { MEDIA_TYPES, parseJsonBody } from "./body.ts";
import { declaredType, notRegistered } from "./declared-type.ts";

/** The groups of options that name none. */
const META = "meta.k8s.io/v1";

/** The other kinds that the decoder of options knows: in every group, and in their own. */
const EVERYWHERE = [
  "Status",
  "APIVersions",
  "APIGroup",
  "APIGroupList",
  "APIResourceList",
  "CreateOptions",
  "UpdateOptions",
];
const AT_HOME = [
  "ListOptions",
  "GetOptions",
  "PatchOptions",
  "Table",
  "TableOptions",
  "PartialObjectMetadata",
  "PartialObjectMetadataList",
  "WatchEvent",
];

/** The options of a delete: its body, or its parameters where it has none. */
export function readDeleteOptions(call: Call): DeleteOptions {
  const options = call.request.body?.length ? readOptionsBody(call) : deleteParameters(call.info.query);
  checkDeleteOptions(options);
  for (const text of call.definition.strategy.warningsOnDelete?.(options) ?? []) call.warn(text);
  return options;
}

/** The options may be of any group, whether it exists or not. */
function readOptionsBody(call: Call): DeleteOptions {
  const type = contentType(call.request) || MEDIA_TYPES[0]!;
  if (!MEDIA_TYPES.includes(type)) throw unsupportedMediaType(MEDIA_TYPES);
  try {
    const value = parsedOptions(call, type);
    const { kind, apiVersion } = declaredType(value);
    if (kind !== "" && kind !== "DeleteOptions") throw new DecodeError(otherKind(kind, apiVersion || META));
    return readAs(shapeOf("meta.v1.DeleteOptions"), value).value as DeleteOptions;
  } catch (error) {
    throw error instanceof DecodeError ? badRequest(error.message) : error;
  }
}

function otherKind(kind: string, apiVersion: string): string {
  const isKnown = EVERYWHERE.includes(kind) || (apiVersion === META && AT_HOME.includes(kind));
  return isKnown
    ? `converting (v1.${kind}) to (v1.DeleteOptions): unknown conversion`
    : notRegistered(kind, apiVersion);
}

function parsedOptions({ request, definition, version }: Call, type: string): unknown {
  if (type === PROTOBUF_MEDIA_TYPE) {
    const { group } = definition.custom ? { group: "meta.k8s.io" } : definition;
    const gvk = { group, version: definition.custom ? "v1" : version.version, kind: "DeleteOptions" };
    return decodeProtobuf(bodyBytes(request), { default: gvk, schemaOf: deleteOptionsSchema });
  }
  const text = bodyText(request);
  return (type === "application/json" ? parseJsonBody(text) : parseYamlText(text)).value;
}

function deleteOptionsSchema(): Schema {
  return definitionSchema("meta.v1.DeleteOptions");
}
