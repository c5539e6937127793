import type { KubeObject } from "@konverge/core";

/** One operation of a JSON patch (RFC 6902). */
export type JsonPatchOperation =
  | { op: "add" | "replace" | "test"; path: string; value: unknown }
  | { op: "remove"; path: string }
  | { op: "move" | "copy"; from: string; path: string };

/** `T` with every field optional at every depth; `null` removes a field. */
export type DeepPartial<T> = T extends readonly (infer Item)[]
  ? readonly DeepPartial<Item>[]
  : T extends object
    ? { readonly [K in keyof T]?: DeepPartial<T[K]> | null | undefined }
    : T;

/**
 * A change of an object, in one of three formats:
 * - `{ merge: … }`: JSON merge patch: objects merge, lists are replaced, null removes;
 * - `{ json: […] }`: JSON patch: operations by path;
 * - `{ strategic: … }`: strategic merge patch: as merge, but lists merge by key. Built-in kinds only.
 *
 * Server-side apply is a separate verb.
 */
export type Patch<T extends KubeObject> =
  | { merge: DeepPartial<T> }
  | { json: readonly JsonPatchOperation[] }
  | { strategic: DeepPartial<T> & { $patch?: string } };

/** A patch as a request carries it. */
export function encodePatch(patch: Patch<KubeObject>): { contentType: string; body: unknown } {
  if ("merge" in patch) return { contentType: "application/merge-patch+json", body: patch.merge };
  if ("json" in patch) return { contentType: "application/json-patch+json", body: patch.json };
  return { contentType: "application/strategic-merge-patch+json", body: patch.strategic };
}
