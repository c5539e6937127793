import { type Permission, permissionText, type policyRules } from "@konverge/runtime";
import { printYaml } from "@konverge/schema";
import type { RoleCheck } from "./check-role.ts";
import type { LearnedRole } from "./learn-role.ts";

interface Rules {
  readonly rules?: ReturnType<typeof policyRules>;
  readonly metadata: { readonly namespace?: string };
}

/** A learned role as YAML. Above each rule are the requests that show it. */
export function learnedRoleText({ roles, permissions }: LearnedRole): string {
  const texts = roles.map((role) => {
    const { rules, ...rest } = role as typeof role & Rules;
    if (!rules) return printYaml(role);
    const { namespace } = role.metadata;
    const shown = rules.map((rule) => {
      const behind = permissions.filter(({ permission }) => isOf(permission, namespace, rule));
      const lines = behind.map(
        ({ permission, request }) => `# ${permission.verb} ${permission.resource}: ${request}\n`,
      );
      return `${lines.join("")}${printYaml([rule])}`;
    });
    return `${printYaml(rest)}rules:\n${shown.join("")}`;
  });
  return texts.join("---\n");
}

function isOf(one: Permission, namespace: string | undefined, rule: ReturnType<typeof policyRules>[number]): boolean {
  return (
    one.namespace === namespace &&
    rule.apiGroups?.[0] === one.group &&
    rule.resources!.includes(one.resource) &&
    rule.verbs.includes(one.verb) &&
    (rule.resourceNames?.[0] ?? undefined) === one.name
  );
}

/** What is wrong with a shipped role, in lines; `unused` false leaves out what is too wide. */
export function roleCheckLines({ missing, unused, underRole, learned }: RoleCheck): string[] {
  const lines: string[] = [];
  for (const { permission, request } of missing)
    lines.push(`too narrow: ${permissionText(permission)} is used, but not granted`, `  ${request}`);
  for (const [place, grants] of Map.groupBy(unused, (grant) => grant.place)) {
    lines.push(`too wide: ${place} grants what no scenario needs`);
    for (const [what, same] of Map.groupBy(grants, (grant) => `${grant.verbs.join(", ")}${suffix(grant)}`))
      lines.push(`  ${same.map(({ resource }) => resource).join(", ")}: ${what}`);
  }
  for (const { scenario, refused, failure } of underRole) {
    lines.push(
      `${scenario}: ${failure === undefined ? "passes" : "fails"} under this role${failure === undefined ? "" : `: ${failure}`}`,
    );
    for (const [what, times] of refused) lines.push(`  refused ${times} times: ${what}`);
  }
  if (!learned.suffices)
    lines.push(
      "what the scenarios need differs from run to run: even the learned role did not suffice for one of them",
    );
  return lines;
}

function suffix({ group, instead, isAbsent }: RoleCheck["unused"][number]): string {
  if (group.includes("/")) return " (a group is named without its version: this matches nothing)";
  if (isAbsent) return " (the scenarios' cluster does not serve it)";
  if (!instead) return "";
  return instead.length === 0 ? " (none is needed)" : ` (needed: ${instead.join(", ")})`;
}
