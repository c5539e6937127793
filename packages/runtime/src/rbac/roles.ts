import type { KubeObject } from "@konverge/core";
import { ClusterRole, ClusterRoleBinding, type PolicyRule, Role, RoleBinding } from "@konverge/kinds";
import { type Permission, policyRules } from "./access.ts";

/** A role or a binding, ready to be applied. */
export type RbacObject = (ClusterRole | ClusterRoleBinding | Role | RoleBinding) & KubeObject;

/** Options of {@link rolesFor}. */
export interface RoleOptions {
  /** The name of all roles and bindings. */
  name: string;
  /** The subject of the bindings. Default: no bindings. */
  serviceAccount?: { name: string; namespace: string };
}

/** The roles that grant exactly these permissions: one for each namespace, and one for the cluster. */
export function rolesFor(accesses: readonly Permission[], { name, serviceAccount }: RoleOptions): RbacObject[] {
  const places = [...new Set(accesses.map(({ namespace }) => namespace))].sort((a, b) =>
    (a ?? "") < (b ?? "") ? -1 : 1,
  );
  const subjects = serviceAccount && [{ kind: "ServiceAccount", ...serviceAccount }];
  const apiVersion = "rbac.authorization.k8s.io/v1";
  const apiGroup = "rbac.authorization.k8s.io";
  return places.flatMap((namespace): RbacObject[] => {
    const rules: PolicyRule[] = policyRules(accesses.filter((access) => access.namespace === namespace));
    const metadata = { name, ...(namespace !== undefined && { namespace }) };
    const kind = namespace === undefined ? ClusterRole.kind : Role.kind;
    const binding = namespace === undefined ? ClusterRoleBinding.kind : RoleBinding.kind;
    return [
      { apiVersion, kind, metadata, rules },
      ...(subjects ? [{ apiVersion, kind: binding, metadata, roleRef: { apiGroup, kind, name }, subjects }] : []),
    ] as RbacObject[];
  });
}
