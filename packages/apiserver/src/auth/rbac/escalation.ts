import { isDeepStrictEqual } from "node:util";
import { type ApiError, forbidden, notFound, quoted } from "@konverge/core";
import { resourceAttributes } from "../attributes.ts";
import { MASTERS, type User } from "../user.ts";
import { type Authorizer, aggregate } from "./authorizer.ts";
import { type BindingObject, RBAC_GROUP, type RoleObject, type RoleRef } from "./role-objects.ts";
import { describeRules, type PolicyRule, quotedList, rulesBeyond } from "./rules.ts";

/** A write to one of the four RBAC resources, before it is stored. */
export interface RbacWrite {
  readonly user: User;
  readonly resource: "roles" | "clusterroles" | "rolebindings" | "clusterrolebindings";
  /** Of the request; empty for cluster-scoped resources. */
  readonly namespace: string;
  /** In the request's path: empty for a creation. */
  readonly name: string;
  readonly object: RoleObject | BindingObject;
  readonly old?: RoleObject | BindingObject;
}

const EVERYTHING: PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];

/**
 * No user grants permissions that they do not have: a role may hold only rules that its writer holds (or the writer may `escalate`),
 * and a binding may only be to such a role (or the writer may `bind` it). Throws the 403 that the real server answers.
 */
export function checkEscalation(authorizer: Authorizer, write: RbacWrite): void {
  if (write.user.groups.includes(MASTERS)) return;
  if (write.resource === "roles" || write.resource === "clusterroles") checkRole(authorizer, write);
  else checkBinding(authorizer, write);
}

function checkRole(authorizer: Authorizer, write: RbacWrite): void {
  const { user, resource, namespace, name } = write;
  const escalate = resourceAttributes("escalate", { group: RBAC_GROUP, resource, namespace, name });
  if (authorizer.authorize(user, escalate).allowed || changesOwnershipAlone(write)) return;
  const role = write.object as RoleObject;
  const refuse = (why: string) => refusal(write, why);
  const problem = grantProblem(authorizer, write, role.rules ?? []);
  if (problem) throw refuse(problem);
  const aggregates = isAggregated(role) || isAggregated(write.old as RoleObject | undefined);
  if (resource === "clusterroles" && aggregates && grantProblem(authorizer, write, EVERYTHING)) {
    throw refuse("must have cluster-admin privileges to use the aggregationRule");
  }
}

function checkBinding(authorizer: Authorizer, write: RbacWrite): void {
  if (changesOwnershipAlone(write)) return;
  const { user, namespace } = write;
  const { roleRef } = write.object as BindingObject;
  const bind = resourceAttributes("bind", {
    group: roleRef.apiGroup ?? RBAC_GROUP,
    resource: roleRef.kind === "Role" ? "roles" : "clusterroles",
    namespace,
    name: roleRef.name,
  });
  if (authorizer.authorize(user, bind).allowed) return;
  const rules = authorizer.rulesOf(roleRef, namespace);
  if (!rules) throw missingRole(write, roleRef);
  const problem = grantProblem(authorizer, write, rules);
  if (problem) throw refusal(write, problem);
}

/** Why a user may not grant these rules, or undefined. */
function grantProblem(authorizer: Authorizer, write: RbacWrite, wanted: readonly PolicyRule[]): string | undefined {
  const { user, namespace } = write;
  const held = authorizer.rulesFor(user, namespace);
  const beyond = rulesBeyond(held.rules, wanted);
  if (beyond.length === 0) return undefined;
  const who = `user ${quoted(user.name)} (groups=${quotedList(user.groups)})`;
  const what = `is attempting to grant RBAC permissions not currently held:\n${describeRules(beyond).join("\n")}`;
  if (held.missing.length === 0) return `${who} ${what}`;
  const unresolved = aggregate(held.missing.map((ref) => missingRole(write, ref)));
  return `${who} ${what}; resolution errors: [${unresolved}]`;
}

/** The real server names the resource of the request here, not that of the missing role. */
function missingRole({ resource }: RbacWrite, { name }: RoleRef): ApiError {
  return notFound({ group: RBAC_GROUP, plural: resource }, name);
}

function refusal({ resource, object }: RbacWrite, why: string): ApiError {
  return forbidden({ group: RBAC_GROUP, plural: resource }, object.metadata.name, why);
}

function isAggregated(role: RoleObject | undefined): boolean {
  return (role?.aggregationRule?.clusterRoleSelectors?.length ?? 0) > 0;
}

/** The garbage collector and finalizing controllers must be able to do their work without holding the role's rules. */
function changesOwnershipAlone({ object, old }: RbacWrite): boolean {
  if (!old) return false;
  const { ownerReferences, finalizers, managedFields } = old.metadata;
  const metadata = definedOnly({ ...object.metadata, ownerReferences, finalizers, managedFields });
  return isDeepStrictEqual({ ...object, metadata }, { ...old, metadata: definedOnly(old.metadata) });
}

function definedOnly(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
