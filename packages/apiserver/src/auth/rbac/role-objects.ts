import type { AnyObject, LabelSelector } from "@konverge/core";
import type { PolicyRule } from "./rules.ts";

/** The API group of roles and bindings. */
export const RBAC_GROUP = "rbac.authorization.k8s.io";

/** The collections of the store that authorization reads. */
export const RBAC_RESOURCES = {
  clusterRoles: `${RBAC_GROUP}/clusterroles`,
  clusterRoleBindings: `${RBAC_GROUP}/clusterrolebindings`,
  roles: `${RBAC_GROUP}/roles`,
  roleBindings: `${RBAC_GROUP}/rolebindings`,
} as const;

/** A Role or ClusterRole. */
export interface RoleObject extends AnyObject {
  rules?: PolicyRule[] | null;
  /** ClusterRoles alone: their rules are those of all roles that this selects. */
  aggregationRule?: { clusterRoleSelectors?: LabelSelector[] };
}

/** A RoleBinding or ClusterRoleBinding. */
export interface BindingObject extends AnyObject {
  subjects?: Subject[] | null;
  roleRef: RoleRef;
}

/** Whom a binding is for: a User, Group or ServiceAccount. */
export interface Subject {
  readonly kind: string;
  readonly apiGroup?: string;
  readonly name: string;
  readonly namespace?: string;
}

/** The role that a binding grants: a Role or ClusterRole. */
export interface RoleRef {
  readonly apiGroup?: string;
  readonly kind: string;
  readonly name: string;
}
