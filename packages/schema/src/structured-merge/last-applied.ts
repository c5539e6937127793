import { isObject, isTooDeep, type JsonObject, parseJson, toGoJson } from "@konverge/core";
import { own, put } from "../json-value.ts";
import { compare } from "./compare.ts";
import { difference, type FieldSet } from "./field-set.ts";
import { toFieldSet } from "./to-field-set.ts";
import type { Typed } from "./typed.ts";
import { typeProblems } from "./validate.ts";

/** Where `kubectl apply` (client-side) notes what it applied. */
export const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** An object's annotations cannot hold more than this, keys and values together. */
const MAX_ANNOTATIONS_BYTES = 256 * 1024;

/** Annotations as Go reads them: null is the empty text, and anything else that is no text makes them unreadable. */
function annotationsOf(object: JsonObject): Record<string, string> | undefined {
  const { metadata } = object;
  const annotations = isObject(metadata) ? metadata["annotations"] : undefined;
  if (!isObject(annotations)) return undefined;
  const texts: Record<string, string> = {};
  for (const [key, value] of Object.entries(annotations)) {
    if (value !== null && typeof value !== "string") return undefined;
    put(texts, key, value ?? "");
  }
  return texts;
}

function lastAppliedOf(object: JsonObject): string | undefined {
  const { metadata } = object;
  const annotations = isObject(metadata) ? metadata["annotations"] : undefined;
  if (!isObject(annotations) || !own(annotations, LAST_APPLIED)) return undefined;
  return annotationsOf(object)?.[LAST_APPLIED];
}

/**
 * Fields that client-side apply set and no client has changed since. A user who moves from client-side to server-side
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
    return isObject(value) && !isTooDeep(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps the annotation of an object that has one in step with what is applied to it from the server's side. */
export function withLastApplied(object: JsonObject, applied: JsonObject): JsonObject {
  if (lastAppliedOf(object) === undefined) return object;
  const annotations = annotationsOf(object)!;
  annotations[LAST_APPLIED] = `${toGoJson(withoutAnnotation(applied))}\n`;
  if (bytesOf(annotations) > MAX_ANNOTATIONS_BYTES) delete annotations[LAST_APPLIED];
  return { ...object, metadata: { ...(object["metadata"] as JsonObject), annotations } };
}

function bytesOf(annotations: Record<string, string>): number {
  let bytes = 0;
  for (const key in annotations) bytes += Buffer.byteLength(key) + Buffer.byteLength(annotations[key]!);
  return bytes;
}

function withoutAnnotation(object: JsonObject): JsonObject {
  if (!isObject(object["metadata"])) return object;
  const annotations = annotationsOf(object);
  const { annotations: _, ...metadata } = object["metadata"];
  if (!annotations) return { ...object, metadata };
  delete annotations[LAST_APPLIED];
  return { ...object, metadata: { ...metadata, annotations } };
}
