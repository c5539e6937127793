import type { Permission } from "@konverge/runtime";
import type { ClusterResources } from "./observed-permissions.ts";
import type { ShippedRule } from "./shipped-role.ts";

/** What a rule of a role grants although no scenario needs it. */
export interface UnusedGrant {
  readonly place: string;
  /** As in the rule. */
  readonly group: string;
  /** `secrets`, `deployments.apps`, with `*` as in the rule. */
  readonly resource: string;
  readonly verbs: readonly string[];
  /** For `*`: the verbs or resources that would do. */
  readonly instead?: readonly string[];
  /** The scenarios' cluster does not serve it: another installation may. */
  readonly isAbsent: boolean;
}

/**
 * The parts of rules that no observed permission needs. Permissions on `finalizers` are not judged: they are needed where the admission
 * plugin OwnerReferencesPermissionEnforcement is enabled, as on OpenShift, and nowhere else.
 */
export function unusedGrants(
  rules: readonly ShippedRule[],
  observed: readonly Permission[],
  resources: ClusterResources,
): UnusedGrant[] {
  return rules.flatMap(({ place, rule }) =>
    (rule.apiGroups ?? []).flatMap((group) =>
      (rule.resources ?? [])
        .filter((resource) => !resource.endsWith("/finalizers"))
        .flatMap((resource): UnusedGrant[] => {
          const used = observed.filter((one) => isGranted(one, group, resource, rule.resourceNames));
          const isAbsent = !/\*/.test(group + resource) && !resources.has(group, resource);
          const shown = { place, group, resource: resourceText(group, resource), isAbsent };
          const found: UnusedGrant[] = [];
          const verbs = rule.verbs.filter((verb) => verb !== "*" && !used.some((one) => one.verb === verb));
          if (verbs.length > 0) found.push({ ...shown, verbs });
          const distinct = (values: readonly string[]) => [...new Set(values)].sort();
          if (rule.verbs.includes("*"))
            found.push({ ...shown, verbs: ["*"], instead: distinct(used.map(({ verb }) => verb)) });
          if (group === "*" || resource === "*") {
            const enough = used.map((one) => resourceText(one.group, one.resource));
            found.push({ ...shown, verbs: rule.verbs, instead: distinct(enough) });
          }
          return found;
        }),
    ),
  );
}

function isGranted(one: Permission, group: string, resource: string, names: readonly string[] | undefined): boolean {
  if (group !== "*" && group !== one.group) return false;
  if (names?.length && one.name !== undefined && !names.includes(one.name)) return false;
  if (resource === "*" || resource === one.resource) return true;
  const [, subresource] = one.resource.split("/");
  return subresource !== undefined && resource === `*/${subresource}`;
}

function resourceText(group: string, resource: string): string {
  const [plural, subresource] = resource.split("/");
  return `${group === "" ? plural : `${plural}.${group}`}${subresource === undefined ? "" : `/${subresource}`}`;
}
