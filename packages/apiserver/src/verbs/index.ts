/**
 * What can be done with objects, the same for every kind: create, get, list, watch, update, patch, apply, delete, scale.
 *
 * A {@link Call} is one request on its way through: what was asked, of which resource in which version, by whom, and what
 * the server has to answer it with. {@link dispatch} finds the verb, or what is plugged in for this resource. A write goes
 * through the same stations wherever it comes from:
 *
 *     body → object ─▶ ownership recorded ─▶ mutating admission ─▶ strategy prepares, judges ─▶ validating admission ─▶ store
 *
 * An update repeats that from the current state when somebody else wrote meanwhile, unless it insists on a version. What is
 * special about a kind is asked of its strategy; no verb knows a kind by name.
 *
 * A read takes its state from the store at one revision: a list never mixes two, its pages stay at the first one's, and a
 * watch brings every change after its position, once and in order. What clients see of a version other than the stored one
 * is converted on the way out.
 *
 * Promises: an answer to a write goes out when it is durable; a dry run goes through all of it and stores nothing; errors
 * have the status, reason, causes and words of a real server.
 */
export type { Admission, Call, Operation, Services, TableContent, TableMaker } from "./call.ts";
export { dispatch } from "./dispatch.ts";
export { APPLY_PATCH } from "./patch.ts";
export { checkPatchRoute, checkRoute, noSuchPath, pageNotFound } from "./routes.ts";
export { scale } from "./scale.ts";
