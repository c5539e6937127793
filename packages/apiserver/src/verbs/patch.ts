import { ApiError, badRequest, conflict, type FieldError, goText, invalid, stringifyJson } from "@konverge/core";
import { invalidValue } from "@konverge/schema";
import {
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  decodeJsonPatch,
  isObject,
} from "@konverge/schema/patch";
import { type Call, requestVersion } from "../call/call.ts";
import { DecodeError } from "../codec/decode-error.ts";
import { checkFinite } from "../codec/finite-numbers.ts";
import { type JsonText, parseJsonText } from "../codec/json-text.ts";
import { checkValue } from "../codec/part-limit.ts";
import type { WorkingObject } from "../codec/working-object.ts";
import { bodyText, contentType, unsupportedMediaType } from "../http/bodies.ts";
import { type WriteParameters, writeParameters } from "../http/query.ts";
import { appliedBy } from "./apply.ts";
import { strictProblems } from "./body.ts";
import type { Written } from "./create.ts";
import { checkName, matchNamespace, undeterminableName } from "./metadata.ts";
import { mapTypeProblem, ownType, patchedTypeProblem } from "./patched-type.ts";
import { updateObject } from "./update.ts";

const JSON_PATCH = "application/json-patch+json";
const MERGE_PATCH = "application/merge-patch+json";
const STRATEGIC_PATCH = "application/strategic-merge-patch+json";
/** Server-side apply. */
export const APPLY_PATCH = "application/apply-patch+yaml";

/** The media types of patches that a resource takes. */
export function patchTypes({ definition }: Pick<Call, "definition">): string[] {
  return [JSON_PATCH, MERGE_PATCH, ...(definition.custom ? [] : [STRATEGIC_PATCH]), APPLY_PATCH];
}

/** Changes an object by one of the four kinds of patch. */
export async function patchObject(given: Call): Promise<Written> {
  const isApply = contentType(given.request) === APPLY_PATCH;
  const parameters = writeParameters(given.info.query, "PatchOptions", { apply: isApply });
  const call = { ...given, dryRun: parameters.dryRun };
  const change = patchChange(call, parameters);
  return updateObject(call, change, {
    ownership: !isApply,
    ...(isApply && call.info.subresource === "" && { create: async () => checkNew(call, await change(undefined)) }),
  });
}

/** What the patch in a request makes of an object; an apply also makes something of none. */
export function patchChange(
  call: Call,
  parameters: WriteParameters,
): (live: WorkingObject | undefined) => Promise<WorkingObject> {
  const type = contentType(call.request);
  if (!patchTypes(call).includes(type)) throw unsupportedMediaType(patchTypes(call));
  const change = type === APPLY_PATCH ? appliedBy(call, parameters) : changeOf(call, type, parameters);
  return async (live) => checked(call, await change(live!));
}

/** A patch may not move an object elsewhere. */
function checked(call: Call, object: WorkingObject): WorkingObject {
  matchNamespace(call, object.metadata);
  checkName(call, object.metadata);
  return object;
}

function checkNew({ definition, info }: Call, object: WorkingObject): WorkingObject {
  const { uid } = object.metadata;
  if (!uid) return object;
  const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
  throw conflict(definition, info.name, why);
}

function changeOf(call: Call, type: string, parameters: WriteParameters): (live: WorkingObject) => WorkingObject {
  const { value, ...strict } = patchBody(call, type);
  const problems = strictProblems(strict, []);
  switch (type) {
    case JSON_PATCH: {
      const { operations, unknown } = decodeJsonPatch(value);
      const ofPatch = [...problems.map((problem) => `json patch ${problem}`), ...unknown];
      return (live) => {
        const patched = applyJsonPatch(live, operations);
        return decodePatched(call, live, patched, parameters, ofPatch, () => merged(patched, live));
      };
    }
    case MERGE_PATCH:
      return (live) => {
        const patched = applyMergePatch(live, value);
        return decodePatched(call, live, patched, parameters, problems, () => merged(patched, live));
      };
    default:
      return (live) => {
        const patched = applyStrategicMergePatch(live, value, call.version.schema);
        return decodePatched(call, live, patched, parameters, problems, () => goText(value), "map");
      };
  }
}

/** JSON in which what a patch has touched is sorted by key, and all else stands as it did. */
function merged(patched: unknown, live: unknown): string {
  if (patched === live || !isObject(patched)) return stringifyJson(patched);
  const before = isObject(live) ? live : {};
  const fields = Object.keys(patched).sort();
  return `{${fields.map((name) => `${JSON.stringify(name)}:${merged(patched[name], before[name])}`).join(",")}}`;
}

function patchBody(call: Call, type: string): JsonText {
  try {
    const text = bodyText(call.request);
    const parsed = parseJsonText(text);
    checkFinite(parsed.value, text);
    return parsed;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw badRequest(type === STRATEGIC_PATCH ? error.message : `error decoding patch: ${error.message}`);
  }
}

/** Makes an object of what a patch led to. `shown` is what an error shows of it. */
function decodePatched(
  call: Call,
  live: WorkingObject,
  patched: WorkingObject,
  { fieldValidation }: WriteParameters,
  patchProblems: readonly string[],
  shown: () => string,
  words: "json" | "map" = "json",
): WorkingObject {
  checkValue(patched);
  const { codec } = call.version;
  const problem = words === "map" ? mapTypeProblem(patched) : patchedTypeProblem(call, patched);
  if (problem !== undefined) throw invalidPatch(shown(), problem);
  if (words === "json" && !call.definition.custom && !patched.apiVersion) {
    // Without a version it is read as the internal one, which calls its fields by other names.
    const unknown = 'unknown field "metadata"';
    if (fieldValidation === "Strict") throw invalidPatch(shown(), `strict decoding error: ${unknown}`);
    if (fieldValidation === "Warn") call.warn(unknown);
    throw undeterminableName(call.info);
  }
  if (call.definition.custom) checkType(call, patched);
  let decoded: ReturnType<typeof codec.decode>;
  try {
    decoded = codec.decode(patched, words, untouched(call, live));
  } catch (error) {
    throw error instanceof DecodeError ? invalidPatch(shown(), error.message) : error;
  }
  const problems = [...patchProblems, ...strictProblems({ duplicates: [] }, decoded.unknown)];
  if (fieldValidation === "Strict" && problems.length > 0) {
    throw invalidPatch(shown(), `strict decoding error: ${problems.join(", ")}`);
  }
  if (fieldValidation === "Warn") for (const problem of problems) call.warn(problem);
  if (!call.definition.custom) Object.assign(decoded.object, ownType(call));
  codec.applyDefaults(decoded.object);
  call.definition.strategy.defaults?.(decoded.object);
  return decoded.object;
}

/** What a request cannot change: an update will put it back, whatever becomes of it. */
function untouched({ definition, version, info }: Call, { spec, status }: WorkingObject): Record<string, unknown> {
  if (definition.custom || definition.strategy.statusFields || !version.subresources.has("status")) return {};
  return info.subresource === "status" ? { spec } : info.subresource === "" ? { status } : {};
}

/** A custom resource cannot be patched into another kind, nor into another version. */
function checkType(call: Call, { apiVersion, kind, metadata }: WorkingObject): void {
  const errors: FieldError[] = [];
  const wanted = requestVersion(call);
  if (kind !== call.version.kind) errors.push(invalidValue("kind", kind, `must be ${call.version.kind}`));
  if (apiVersion !== wanted) errors.push(invalidValue("apiVersion", apiVersion, `must be ${wanted}`));
  if (errors.length > 0) throw invalid({ group: call.definition.group, kind }, metadata.name, errors);
}

function invalidPatch(shown: string, why: string): ApiError {
  const { reason, message, field } = invalidValue("patch", shown, why);
  return new ApiError({
    code: 422,
    reason: "Invalid",
    message: ` "" is invalid: ${field}: ${message}`,
    details: { causes: [{ reason, message, field }] },
  });
}
