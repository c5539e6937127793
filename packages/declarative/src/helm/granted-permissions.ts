import type { KindRef, KubeObject } from "@konverge/core";
import { builtinResources, type PolicyRule } from "@konverge/kinds";
import { type PermissionDeclaration, type PermissionVerb, permission } from "@konverge/runtime";

const VERBS: readonly PermissionVerb[] = [
  "get",
  "list",
  "watch",
  "create",
  "update",
  "patch",
  "delete",
  "deletecollection",
];

/**
 * The permissions that rendered Roles and ClusterRoles grant. Rules with other verbs, with wildcards, or for paths are left out: an
 * operator that has them could be almost everything, so that is for a person to decide.
 */
export function grantedPermissions(objects: readonly KubeObject[]): PermissionDeclaration[] {
  return objects
    .filter(({ kind }) => kind === "Role" || kind === "ClusterRole")
    .flatMap((role) =>
      ((role as { rules?: readonly PolicyRule[] | null }).rules ?? []).flatMap((rule) => ofRule(rule, role)),
    );
}

function ofRule({ apiGroups = [], resources = [], verbs = [] }: PolicyRule, role: KubeObject): PermissionDeclaration[] {
  const known = VERBS.filter((verb) => verbs.includes(verb));
  const why = `${role.kind} ${role.metadata.name} grants it`;
  return apiGroups.flatMap((group) =>
    resources
      .filter((resource) => group !== "*" && !resource.includes("*") && known.length > 0)
      .map((resource) => {
        const [plural, subresource] = resource.split("/") as [string, string?];
        return permission(resourceOf(group, plural), known, {
          forOthers: true,
          why,
          ...(subresource && { subresource }),
        });
      }),
  );
}

/** For a rule, only group and plural count. */
function resourceOf(group: string, plural: string): KindRef<KubeObject> {
  const found = builtinResources().find((one) => one.group === group && one.plural === plural);
  const { version, kind, namespaced } = found ?? { version: "v1", kind: plural, namespaced: true };
  return { group, version, kind, plural, namespaced };
}
