import { ApiError, isForbidden } from "@konverge/core";
import type { ApiCall } from "../observe/observer.ts";

/** What RBAC says; quotas and admission refuse with the same status. */
const BY_ROLE = /\bcannot \w+ resource\b/;

/** The verb that roles have for a call. */
export const roleVerb = ({ verb }: ApiCall): Exclude<ApiCall["verb"], "apply"> => (verb === "apply" ? "patch" : verb);

/** The error of a call that a role does not permit, with what to do; any other error as it is. */
export function withRemedy(error: unknown, call: ApiCall, isDeclared: (call: ApiCall) => boolean): unknown {
  if (!isForbidden(error) || !BY_ROLE.test((error as ApiError).message)) return error;
  const { status, message } = error as ApiError;
  const { kind, subresource } = call;
  const more = subresource ? `, { subresource: ${JSON.stringify(subresource)} }` : "";
  const remedy = isDeclared(call)
    ? "the controller declares this, so the role in the cluster is not its own: apply the one that npx konverge manifests writes"
    : `the controller does not declare this: add permissions: [permission(${kind.kind}, ["${roleVerb(call)}"]${more})]`;
  return new ApiError({ ...status, message: `${message}: ${remedy}` });
}
