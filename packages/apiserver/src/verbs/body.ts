import {
  ApiError,
  apiVersionOf,
  badRequest,
  type GroupVersionKind,
  invalid,
  parseApiVersion,
  quoted,
} from "@konverge/core";
import { invalidValue } from "@konverge/schema";
import type { JsonObject } from "@konverge/schema/patch";
import { decodeProtobuf, PROTOBUF_MEDIA_TYPE } from "@konverge/schema/protobuf";
import type { Call } from "../call/call.ts";
import type { Codec } from "../codec/codec.ts";
import { DecodeError } from "../codec/decode-error.ts";
import { checkFinite } from "../codec/finite-numbers.ts";
import { type JsonText, parseJsonText } from "../codec/json-text.ts";
import { checkValue } from "../codec/part-limit.ts";
import type { WorkingObject } from "../codec/working-object.ts";
import { parseYamlText } from "../codec/yaml-text.ts";
import { bodyBytes, bodyText, contentType, unsupportedMediaType } from "../http/bodies.ts";
import type { FieldValidation } from "../http/query.ts";
import { type DeclaredType, declaredType, typeProblem } from "./declared-type.ts";

/** What a body should be: the kind of the resource, or that of a subresource. */
export interface Expected {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly codec: Codec;
}

export const MEDIA_TYPES = ["application/json", "application/yaml", PROTOBUF_MEDIA_TYPE];

/** The object in the body of a create or update, with its defaults. Throws 400 and 415 as a real server does. */
export function readBody(call: Call, fieldValidation: FieldValidation): WorkingObject {
  const object = readBodyAs(call, ownKind(call), fieldValidation);
  call.definition.strategy.defaults?.(object);
  return object;
}

/** The object in the body of a request to a subresource that takes another kind: a Scale, an Eviction. */
export function readBodyAs(call: Call, expected: Expected, fieldValidation: FieldValidation): WorkingObject {
  const object = decodeAs(call, expected, parseBody(call, expected), fieldValidation);
  expected.codec.applyDefaults(object);
  return object;
}

/** Parses a JSON text; what is wrong with it is said in the words of what looks for the kind in it. */
export function parseJsonBody(text: string): JsonText {
  try {
    return parseJsonText(text);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw new DecodeError(`couldn't get version/kind; json parse error: ${error.message}`);
  }
}

/** The kind of the resource itself. */
export function ownKind({ definition, version }: Call): Expected {
  return { group: definition.group, version: version.version, kind: version.kind, codec: version.codec };
}

function parseBody(call: Call, expected: Expected): JsonText & { text: string } {
  const { request, definition } = call;
  const type = contentType(request) || MEDIA_TYPES[0]!;
  if (type === PROTOBUF_MEDIA_TYPE && !definition.custom) return { ...parseProtobuf(call, expected), text: "" };
  const text = bodyText(request);
  if (type === "application/json") {
    return { ...understood(() => parseJsonBody(text), text, expected), text };
  }
  if (type === "application/yaml") return { ...understood(() => parseYamlText(text), text, expected), text };
  throw unsupportedMediaType(definition.custom ? MEDIA_TYPES.slice(0, 2) : MEDIA_TYPES);
}

function parseProtobuf({ request, registry: { facts } }: Call, expected: Expected): JsonText {
  const bytes = bodyBytes(request);
  try {
    const value = decodeProtobuf(bytes, { default: expected, facts });
    checkValue(value);
    return { value, duplicates: [] };
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 400) throw error;
    const hex = Buffer.from(bytes.subarray(0, 30)).toString("hex") + (bytes.length > 30 ? " ..." : "");
    throw badRequest(
      `the object provided is unrecognized (must be of type ${expected.kind}): ${error.message} (${hex || "<empty>"})`,
    );
  }
}

/** Reads what a text is or says; what is wrong with it is said together with its beginning. */
function understood<T>(read: () => T, text: string, expected: Expected): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw unrecognized(expected, error.message, text);
  }
}

function unrecognized({ kind }: Expected, why: string, text: string) {
  return badRequest(`the object provided is unrecognized (must be of type ${kind}): ${why} (${summary(text)})`);
}

/** The beginning of a body, in hexadecimal unless it looks like JSON. */
function summary(text: string): string {
  if (text === "") return "<empty>";
  const bytes = Buffer.from(text);
  const cut = bytes.subarray(0, 30);
  return (text[0] === "{" ? cut.toString() : cut.toString("hex")) + (bytes.length > 30 ? " ..." : "");
}

function decodeAs(
  call: Call,
  expected: Expected,
  { value, text, ...strict }: JsonText & { text: string },
  fieldValidation: FieldValidation,
): WorkingObject {
  const declared = understood(() => declaredType(value), text, expected);
  const body = (value ?? {}) as JsonObject;
  const actual = call.definition.custom ? customType(body, expected, text) : typeOf(declared, expected);
  const cannot = (why: string) =>
    badRequest(`${actual.kind} in version ${quoted(actual.version)} cannot be handled as a ${expected.kind}: ${why}`);
  if (actual.kind !== expected.kind || actual.group !== expected.group || actual.version !== expected.version) {
    const problem = typeProblem(call, expected, actual);
    throw problem ? cannot(problem) : wrongVersion(call, expected, actual, body);
  }
  try {
    checkFinite(body, text);
    const { object, unknown } = expected.codec.decode(body);
    if (fieldValidation === "Ignore") return object;
    const problems = strictProblems(strict, unknown);
    if (problems.length > 0 && fieldValidation === "Strict") {
      throw cannot(`strict decoding error: ${problems.join(", ")}`);
    }
    for (const problem of problems) call.warn(problem);
    return object;
  } catch (error) {
    throw error instanceof DecodeError ? cannot(error.message) : error;
  }
}

/** The errors of a strict decoder, in the order in which it finds them. */
export function strictProblems({ duplicates, place }: Omit<JsonText, "value">, unknown: readonly string[]): string[] {
  const problems = [
    ...duplicates,
    ...unknown.map((field) => ({ problem: `unknown field ${quoted(field)}`, at: place?.(field) ?? 0 })),
  ];
  return problems.sort((a, b) => a.at - b.at).map(({ problem }) => problem);
}

/** The type that a body says it is of; what it does not say is as expected. */
function typeOf({ apiVersion, kind }: DeclaredType, expected: Expected): GroupVersionKind {
  const { group, version } = apiVersion === "" ? expected : parseApiVersion(apiVersion);
  return { group, version, kind: kind || expected.kind };
}

/** Nothing is known of custom resources beforehand, so they must say what they are, and name the fields exactly. */
function customType(body: JsonObject, expected: Expected, text: string): GroupVersionKind {
  const { apiVersion, kind } = body as { apiVersion?: string | null; kind?: string | null };
  if (!kind) throw unrecognized(expected, `Object 'Kind' is missing in '${text}'`, text);
  return apiVersion ? { ...parseApiVersion(apiVersion), kind } : { group: "", version: "", kind };
}

function wrongVersion({ definition }: Call, expected: Expected, actual: GroupVersionKind, body: JsonObject): ApiError {
  const given = actual.version === "" ? "" : apiVersionOf(actual);
  const wanted = apiVersionOf(expected);
  if (definition.custom && given === wanted) {
    const { name } = (body["metadata"] ?? {}) as { name?: string };
    return invalid(actual, name ?? "", [invalidValue("kind", actual.kind, `must be ${expected.kind}`)]);
  }
  return badRequest(`the API version in the data (${given}) does not match the expected API version (${wanted})`);
}
