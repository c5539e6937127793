/**
 * The three ways to say what should change in an object, and how to find out what to say.
 *
 * A JSON patch is a list of steps (RFC 6902); a merge patch is an object in which null means "remove" (RFC 7386); a
 * strategic merge patch is one that also knows, from the kind's schema, which lists merge and by which key, and takes
 * directives (`$patch`, `$retainKeys`, `$setElementOrder/…`, `$deleteFromPrimitiveList/…`). All three are applied as the
 * API server applies them, quirks and refusals included: a refusal is an ApiError with the server's status and words.
 *
 * Nothing here changes its arguments. Results share every part that a patch did not touch with the object it was applied
 * to, so whoever compares the two afterwards can stop at parts that are identical.
 *
 * The `create…` functions go the other way: from two objects to a patch, or from three to the patch `kubectl apply`
 * would send.
 */
import type { Schema } from "@konverge/core";
import type { JsonObject } from "./json-value.ts";
import { createThreeWayMergePatch } from "./patch/merge-patch.ts";
import { createThreeWayStrategicPatch } from "./patch/strategic-diff.ts";

export { deepEqual as equalJson } from "@konverge/core";
export { isEmpty, isObject, type JsonObject, own, put } from "./json-value.ts";
export {
  applyJsonPatch,
  decodeJsonPatch,
  type JsonPatchOperation,
  MAX_JSON_PATCH_OPERATIONS,
} from "./patch/json-patch.ts";
export { applyMergePatch, createMergePatch } from "./patch/merge-patch.ts";
export { internal } from "./patch/refusals.ts";
export { createTwoWayStrategicPatch } from "./patch/strategic-diff.ts";
export { applyStrategicMergePatch } from "./patch/strategic-merge.ts";

/**
 * The patch that `kubectl apply` sends: from `original` (what was applied last time), `modified` (what is applied now)
 * and `current` (what the server has). With the schema of a built-in kind it is a strategic merge patch, without one, as
 * for custom resources, a merge patch.
 */
export function createThreeWayPatch(original: object, modified: object, current: object, schema?: Schema): JsonObject {
  return schema
    ? createThreeWayStrategicPatch(original, modified, current, schema)
    : createThreeWayMergePatch(original, modified, current);
}
