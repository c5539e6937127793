/**
 * The three ways to say what should change in an object.
 *
 * A JSON patch is a list of steps (RFC 6902); a merge patch is an object in which null means "remove" (RFC 7386); a
 * strategic merge patch is one that also knows, from the kind's schema, which lists merge and by which key, and takes
 * directives (`$patch`, `$retainKeys`, `$setElementOrder/…`, `$deleteFromPrimitiveList/…`). All three are applied as
 * the API server applies them, quirks and refusals included: a refusal is an ApiError with the server's status and
 * words.
 *
 * Nothing here changes its arguments. Results share every part that a patch did not touch with the object it was
 * applied to, so a later comparison can stop at identical parts.
 */
export { deepEqual as equalJson, isObject, type JsonObject } from "@konverge/core";
export { isEmpty, own, put } from "./json-value.ts";
export {
  applyJsonPatch,
  decodeJsonPatch,
  type JsonPatchOperation,
  MAX_JSON_PATCH_OPERATIONS,
} from "./patch/json-patch.ts";
export { applyMergePatch } from "./patch/merge-patch.ts";
export { internal } from "./patch/refusals.ts";
export { applyStrategicMergePatch } from "./patch/strategic-merge.ts";
