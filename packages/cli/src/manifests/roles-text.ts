import type { PolicyRule } from "@konverge/kinds";
import type { OperatorParts, RbacObject } from "@konverge/runtime";
import { printYaml } from "@konverge/schema";
import { reasonFor } from "./reasons.ts";

/** Roles as YAML, with the reason for each rule above it. */
export function rolesText(roles: readonly RbacObject[], name: string, parts: OperatorParts): string {
  return roles.map((role) => roleText(role, name, parts)).join("---\n");
}

function roleText(role: RbacObject, name: string, parts: OperatorParts): string {
  if (!("rules" in role)) return printYaml(role);
  const { rules = [], ...rest } = role as RbacObject & { rules?: PolicyRule[] };
  const texts = rules.map((rule) => `# ${reasonFor(rule, name, parts)}\n${printYaml([rule])}`);
  return `${printYaml(rest)}rules:\n${texts.join("")}`;
}
