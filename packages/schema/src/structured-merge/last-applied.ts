import { parseJson, stringifyJson } from "@konverge/core";
import { isObject, type JsonObject, own } from "../patch/index.ts";
import { compare } from "./compare.ts";
import { difference, type FieldSet } from "./field-set.ts";
import { compareText, escapeForGo } from "./path-element.ts";
import { toFieldSet } from "./to-field-set.ts";
import type { Typed } from "./updater.ts";
import { typeProblems } from "./validate.ts";

/** Where `kubectl apply` (client-side) notes what it applied. */
export const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** An object's annotations cannot hold more than this, keys and values together. */
const MAX_ANNOTATIONS_BYTES = 256 * 1024;

function annotationsOf(object: JsonObject): JsonObject | undefined {
  const { metadata } = object;
  const annotations = isObject(metadata) ? metadata["annotations"] : undefined;
  return isObject(annotations) ? annotations : undefined;
}

function lastAppliedOf(object: JsonObject): string | undefined {
  const annotations = annotationsOf(object);
  const value = annotations && own(annotations, LAST_APPLIED);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/**
 * Fields that client-side apply put there and nobody has changed since. A user who moves from client-side to server-side
 * apply may take them without conflict. Undefined when the annotation is missing or of no use.
 */
export function fieldsLastApplied(live: Typed): FieldSet | undefined {
  const annotation = lastAppliedOf(live.object);
  if (annotation === undefined) return undefined;
  const applied = parseObject(annotation);
  if (applied?.["apiVersion"] !== live.apiVersion) return undefined;
  if (typeProblems(live.type, live.object).length > 0 || typeProblems(live.type, applied).length > 0) return undefined;
  const { added, modified, removed } = compare(live.type, applied, live.object);
  return [modified, added, removed].reduce(difference, toFieldSet(live.type, applied));
}

function parseObject(json: string): JsonObject | undefined {
  try {
    const value = parseJson(json);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps the annotation of an object that has one in step with what is applied to it from the server's side. */
export function withLastApplied(object: JsonObject, applied: JsonObject): JsonObject {
  if (lastAppliedOf(object) === undefined) return object;
  const annotations = { ...annotationsOf(object), [LAST_APPLIED]: `${goJson(withoutAnnotation(applied))}\n` };
  if (bytesOf(annotations) > MAX_ANNOTATIONS_BYTES) delete (annotations as JsonObject)[LAST_APPLIED];
  return { ...object, metadata: { ...(object["metadata"] as JsonObject), annotations } };
}

function bytesOf(annotations: JsonObject): number {
  let bytes = 0;
  for (const key in annotations) bytes += Buffer.byteLength(key) + Buffer.byteLength(String(annotations[key]));
  return bytes;
}

function withoutAnnotation(object: JsonObject): JsonObject {
  const annotations = annotationsOf(object);
  if (!annotations || !Object.hasOwn(annotations, LAST_APPLIED)) return object;
  const { [LAST_APPLIED]: _, ...others } = annotations;
  return { ...object, metadata: { ...(object["metadata"] as JsonObject), annotations: others } };
}

/** JSON as Go writes it: keys sorted, a few more characters escaped. */
function goJson(value: unknown): string {
  return stringifyJson(sortKeys(value)).replace(/[<>&\u2028\u2029]/g, escapeForGo);
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isObject(value)) return value;
  const keys = Object.keys(value).sort(compareText);
  return Object.fromEntries(keys.map((key) => [key, sortKeys(value[key])]));
}
