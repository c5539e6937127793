import type { Authorizer } from "../auth/rbac/authorizer.ts";
import { checkEscalation, type RbacWrite } from "../auth/rbac/escalation.ts";
import type { AdmissionPlugin } from "./attributes.ts";

const RESOURCES = new Set(["roles", "clusterroles", "rolebindings", "clusterrolebindings"]);

/** No user grants permissions that they do not have. A real server checks this in the storage of roles, after mutating admission. */
export function rbacEscalation(authorizer: Authorizer): AdmissionPlugin {
  return {
    name: "RBACEscalation",
    handles: ({ group, resource, operation }) =>
      group === "rbac.authorization.k8s.io" &&
      RESOURCES.has(resource) &&
      (operation === "CREATE" || operation === "UPDATE"),
    mutate({ call, resource, namespace, object, old, operation }) {
      checkEscalation(authorizer, {
        user: call.user,
        resource: resource as RbacWrite["resource"],
        namespace,
        name: operation === "CREATE" ? "" : call.info.name,
        object: object as unknown as RbacWrite["object"],
        ...(old && { old: old as unknown as NonNullable<RbacWrite["old"]> }),
      });
    },
  };
}
