/**
 * The permissions that an operator needs, and no others.
 *
 * `controllerPermissions` reads it off the controllers; `PermissionRecorder` sees it in a test; `comparePermissions`
 * tells where the two differ; `rolesFor` writes the roles; `preflight` asks a server whether they are in force.
 */

import type { KindRef, KubeObject } from "@konverge/core";
import type { PolicyRule } from "@konverge/kinds";

/** One verb on one resource. */
export interface Permission {
  readonly verb: string;
  readonly group: string;
  /** The plural, with a subresource if there is one: `widgets/status`. */
  readonly resource: string;
  /** Undefined: in all namespaces, or on a cluster-scoped resource. */
  readonly namespace?: string;
  /** Only the object of this name. */
  readonly name?: string;
  /** Needed only in rare cases, such as after a lost connection: not reported as unused. */
  readonly rare?: boolean;
}

/** What a controller does through `context.client`. */
export interface PermissionDeclaration {
  readonly kind: KindRef<KubeObject>;
  readonly verbs: readonly PermissionVerb[];
  readonly subresource?: string;
  /** Default: the controller's. */
  readonly namespaces?: readonly string[];
  /**
   * The controller does not use the permission itself but creates roles that grant it: RBAC permits that only to those
   * who have it.
   */
  readonly forOthers?: boolean;
  /**
   * What it is for, as a clause such as `asks each server which role it has`: the comment above its rule. Say it where the
   * permission is more than one to write an object of the operator.
   */
  readonly why?: string;
}

export type PermissionVerb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";

/** Declares what a controller does through `context.client`: `permissions: [permission(Secret, ["get"])]`. */
export function permission(
  kind: KindRef<KubeObject>,
  verbs: readonly PermissionVerb[],
  more: Omit<PermissionDeclaration, "kind" | "verbs"> = {},
): PermissionDeclaration {
  return { kind, verbs, ...more };
}

/** In the order in which roles are usually written. */
const VERB_ORDER: readonly string[] = [
  "get",
  "list",
  "watch",
  "create",
  "update",
  "patch",
  "delete",
  "deletecollection",
];

/** A permission as text: `patch widgets.example.com/status in namespace prod`. */
export function permissionText({ verb, group, resource, namespace, name }: Permission): string {
  const [plural = "", subresource] = resource.split("/");
  const what = `${group === "" ? plural : `${plural}.${group}`}${subresource ? `/${subresource}` : ""}`;
  const which = name ? ` ${JSON.stringify(name)}` : "";
  return `${verb} ${what}${which}${namespace ? ` in namespace ${namespace}` : ""}`;
}

/** The fewest rules that grant exactly these permissions, in one namespace or in all. */
export function policyRules(accesses: Iterable<Permission>): PolicyRule[] {
  const verbs = new Map<string, Set<string>>();
  for (const { verb, group, resource, name } of accesses) {
    const id = JSON.stringify([group, name ?? null, resource]);
    const known = verbs.get(id);
    if (known) known.add(verb);
    else verbs.set(id, new Set([verb]));
  }
  const rules = new Map<string, PolicyRule & { resources: string[] }>();
  for (const [id, allowed] of [...verbs].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const [group, name, resource] = JSON.parse(id) as [string, string | null, string];
    const sorted = [...allowed].sort((a, b) => VERB_ORDER.indexOf(a) - VERB_ORDER.indexOf(b));
    const shared = JSON.stringify([group, name, sorted]);
    const rule = rules.get(shared);
    if (rule) rule.resources.push(resource);
    else {
      rules.set(shared, {
        apiGroups: [group],
        resources: [resource],
        ...(name !== null && { resourceNames: [name] }),
        verbs: sorted,
      });
    }
  }
  return [...rules.values()];
}

/** True if `held` includes `wanted`. */
export function covers(held: Permission, wanted: Permission): boolean {
  return (
    held.verb === wanted.verb &&
    held.group === wanted.group &&
    held.resource === wanted.resource &&
    (held.namespace === undefined || held.namespace === wanted.namespace) &&
    (held.name === undefined || held.name === wanted.name)
  );
}
