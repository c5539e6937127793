import {
  ApiError,
  type ApiRequest,
  apiVersionOf,
  badRequest,
  invalid,
  parseApiVersion,
  quoted,
  type Schema,
  WholeFloat,
} from "@konverge/core";
import { definitionSchema } from "@konverge/kinds";
import { invalidValue } from "@konverge/schema";
import { isObject, type JsonObject } from "@konverge/schema/patch";
import { decodeProtobuf, PROTOBUF_MEDIA_TYPE } from "@konverge/schema/protobuf";
import type { Call } from "../call/call.ts";
import { knownKind } from "../call/known-kinds.ts";
import type { Codec } from "../codec/codec.ts";
import { checkContainers, countContainers } from "../codec/container-limit.ts";
import { DecodeError } from "../codec/decode-error.ts";
import { type JsonText, parseJsonText } from "../codec/json-text.ts";
import { readAs, shapeOf } from "../codec/struct-shape.ts";
import type { WorkingObject } from "../codec/working-object.ts";
import { parseYamlText } from "../codec/yaml-text.ts";
import { bodyBytes, bodyText, contentType, unsupportedMediaType } from "../http/bodies.ts";
import type { DeleteOptions, FieldValidation } from "../http/query.ts";

/** What a body should be: the kind of the resource, or that of a subresource. */
export interface Expected {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly codec: Codec;
}

/** How a real server names the register of kinds that it has looked in. */
const SCHEME = 'in scheme "pkg/runtime/scheme.go:111"';

const MEDIA_TYPES = ["application/json", "application/yaml", PROTOBUF_MEDIA_TYPE];

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

/** The options in the body of a delete. Every group knows them under its own name. */
export function readOptionsBody(call: Call): DeleteOptions {
  const type = contentType(call.request) || MEDIA_TYPES[0]!;
  if (!MEDIA_TYPES.includes(type)) throw unsupportedMediaType(MEDIA_TYPES);
  try {
    const { value } = parsedOptions(call, type);
    const { kind = "DeleteOptions" } = isObject(value) ? (value as { kind?: string }) : {};
    if (kind !== "DeleteOptions") {
      const { apiVersion = "v1" } = value as { apiVersion?: string };
      throw badRequest(`no kind ${quoted(kind)} is registered for version ${quoted(apiVersion)} ${SCHEME}`);
    }
    return readAs(shapeOf("meta.v1.DeleteOptions"), value).value as DeleteOptions;
  } catch (error) {
    throw error instanceof DecodeError ? badRequest(error.message) : error;
  }
}

function parsedOptions({ request, definition, version }: Call, type: string): JsonText {
  if (type === PROTOBUF_MEDIA_TYPE) {
    const { group } = definition.custom ? { group: "meta.k8s.io" } : definition;
    const gvk = { group, version: definition.custom ? "v1" : version.version, kind: "DeleteOptions" };
    return {
      value: decodeProtobuf(bodyBytes(request), { default: gvk, schemaOf: deleteOptionsSchema }),
      duplicates: [],
    };
  }
  const text = bodyText(request);
  return type === "application/json" ? withJsonWords(() => parseJsonText(text)) : parseYamlText(text);
}

/** Puts what is wrong with a JSON text into the words of what looks for the kind in it. */
function withJsonWords<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw new DecodeError(`couldn't get version/kind; json parse error: ${error.message}`);
  }
}

function deleteOptionsSchema(): Schema {
  return definitionSchema("meta.v1.DeleteOptions");
}

/** The kind of the resource itself. */
export function ownKind({ definition, version }: Call): Expected {
  return { group: definition.group, version: version.version, kind: version.kind, codec: version.codec };
}

function parseBody(call: Call, expected: Expected): JsonText & { text: string } {
  const { request, definition } = call;
  const type = contentType(request) || MEDIA_TYPES[0]!;
  if (type === PROTOBUF_MEDIA_TYPE && !definition.custom) return { ...parseProtobuf(request, expected), text: "" };
  const text = bodyText(request);
  if (type === "application/json") {
    return { ...parsed(() => withJsonWords(() => parseJsonText(text)), text, expected), text };
  }
  if (type === "application/yaml") return { ...parsed(() => parseYamlText(text), text, expected), text };
  throw unsupportedMediaType(definition.custom ? MEDIA_TYPES.slice(0, 2) : MEDIA_TYPES);
}

function parseProtobuf(request: ApiRequest, expected: Expected): JsonText {
  const bytes = bodyBytes(request);
  try {
    const value = decodeProtobuf(bytes, { default: expected });
    checkContainers(countContainers(value));
    return { value, duplicates: [] };
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 400) throw error;
    const hex = Buffer.from(bytes.subarray(0, 30)).toString("hex") + (bytes.length > 30 ? " ..." : "");
    throw badRequest(
      `the object provided is unrecognized (must be of type ${expected.kind}): ${error.message} (${hex || "<empty>"})`,
    );
  }
}

function parsed(parse: () => JsonText, text: string, expected: Expected): JsonText {
  try {
    const json = parse();
    if (json.value === null) return { ...json, value: {} };
    if (!isObject(json.value)) {
      const type = `struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`;
      const problem = `json: cannot unmarshal ${kindOfJson(json.value)} into Go value of type ${type}`;
      throw new DecodeError(`couldn't get version/kind; json parse error: ${problem}`);
    }
    return json;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw unrecognized(expected, error.message, text);
  }
}

function kindOfJson(value: unknown): string {
  if (typeof value === "bigint" || value instanceof WholeFloat) return "number";
  return Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
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
  const body = value as Record<string, unknown>;
  const actual = typeOf(body, expected, text, call.definition.custom);
  const cannot = (why: string) =>
    badRequest(`${actual.kind} in version ${quoted(actual.version)} cannot be handled as a ${expected.kind}: ${why}`);
  if (actual.kind !== expected.kind || actual.group !== expected.group || actual.version !== expected.version) {
    const problem = typeProblem(call, expected, actual);
    throw problem ? cannot(problem) : wrongVersion(call, expected, actual, body);
  }
  try {
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

/** What a strict decoder complains about, in the order in which it comes upon it. */
export function strictProblems({ duplicates, place }: Omit<JsonText, "value">, unknown: readonly string[]): string[] {
  const problems = [
    ...duplicates,
    ...unknown.map((field) => ({ problem: `unknown field ${quoted(field)}`, at: place?.(field) ?? 0 })),
  ];
  return problems.sort((a, b) => a.at - b.at).map(({ problem }) => problem);
}

interface ActualType {
  group: string;
  version: string;
  kind: string;
}

/** Why what an object says of its type cannot be read at all; undefined when it can. */
export function typeTextProblem(body: JsonObject): string | undefined {
  for (const name of ["apiVersion", "kind"]) {
    const value = body[name];
    if (value === undefined || value === null || typeof value === "string") continue;
    const problem = `json: cannot unmarshal ${kindOfJson(value)} into Go struct field .${name} of type string`;
    return `couldn't get version/kind; json parse error: ${problem}`;
  }
  const apiVersion = (body["apiVersion"] as string | undefined) ?? "";
  return apiVersion.split("/").length > 2 ? `unexpected GroupVersion string: ${apiVersion}` : undefined;
}

/** The type that a body says it is of; what it does not say is as expected. */
function typeOf(body: JsonObject, expected: Expected, text: string, custom: boolean): ActualType {
  const problem = typeTextProblem(body);
  if (problem !== undefined) throw unrecognized(expected, problem, text);
  const apiVersion = (body["apiVersion"] as string | undefined) ?? "";
  const kind = (body["kind"] as string | undefined) ?? "";
  if (custom) {
    // Nothing is known of custom resources beforehand, so they must say what they are.
    if (kind === "") throw unrecognized(expected, `Object 'Kind' is missing in '${text}'`, text);
    return apiVersion === "" ? { group: "", version: "", kind } : { ...parseApiVersion(apiVersion), kind };
  }
  const { group, version } = apiVersion === "" ? expected : parseApiVersion(apiVersion);
  return { group, version, kind: kind || expected.kind };
}

/** Why a body of one type cannot be read as one of another; undefined when it can. */
export function typeProblem({ definition }: Call, expected: Expected, actual: ActualType): string | undefined {
  const [given, wanted] = [apiVersionOf(actual), apiVersionOf(expected)];
  if (definition.custom || (given === wanted && actual.kind === expected.kind)) return undefined;
  if (!knownKind(actual)) {
    return `no kind ${quoted(actual.kind)} is registered for version ${quoted(given)} ${SCHEME}`;
  }
  if (actual.kind === expected.kind && actual.group === expected.group) return undefined;
  const target = `${knownKind(expected)?.internal ?? expected.group}.${expected.kind}`;
  return `converting (${actual.version}.${actual.kind}) to (${target}): unknown conversion`;
}

function wrongVersion({ definition }: Call, expected: Expected, actual: ActualType, body: JsonObject): ApiError {
  const given = actual.version === "" ? "" : apiVersionOf(actual);
  const wanted = apiVersionOf(expected);
  if (definition.custom && given === wanted) {
    const { name } = (body["metadata"] ?? {}) as { name?: string };
    return invalid(actual, name ?? "", [invalidValue("kind", actual.kind, `must be ${expected.kind}`)]);
  }
  return badRequest(`the API version in the data (${given}) does not match the expected API version (${wanted})`);
}
