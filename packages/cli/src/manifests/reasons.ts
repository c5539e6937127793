import { CustomResourceDefinition, type PolicyRule } from "@konverge/kinds";
import type { Controller, OperatorParts } from "@konverge/runtime";

/** Why an operator is given a rule, in a sentence: the comment above it. */
export function reasonFor(rule: PolicyRule, name: string, parts: OperatorParts): string {
  const { resources = [], apiGroups = [] } = rule;
  const group = apiGroups[0] ?? "";
  const reasons = resources.map((resource) => resourceReason(group, resource, rule, name, parts));
  return sentence([...new Set(reasons.flat())]);
}

function resourceReason(group: string, resource: string, rule: PolicyRule, name: string, parts: OperatorParts) {
  const [plural = "", subresource] = resource.split("/");
  const { verbs = [], resourceNames } = rule;
  const is = (kind: { group: string; plural: string }) => kind.group === group && kind.plural === plural;
  const reasons: string[] = [];
  for (const one of parts.controllers) reasons.push(...controllerReasons(one, is, subresource, verbs));
  if (group === "" && plural === "events") reasons.push("reports what it did in events");
  if (group === "coordination.k8s.io" && plural === "leases") {
    reasons.push(
      resourceNames ? "holds and renews its lease, so that only one replica is active" : "creates its lease",
    );
  }
  if (group === "" && plural === "secrets" && (resourceNames?.includes(`${name}-certificates`) || onlyCreates(verbs))) {
    if ((parts.admissions ?? []).length + parts.conversions.length > 0) {
      reasons.push("keeps the certificates of its webhooks");
    }
  }
  if (group === "admissionregistration.k8s.io") reasons.push("keeps its admission webhooks registered");
  if (group === "apiextensions.k8s.io" && resourceNames) reasons.push("keeps its conversion webhook registered");
  return reasons.length > 0 ? reasons : ["uses it in its code"];
}

function controllerReasons(
  { kind, owns, finalizer, options }: Controller,
  is: (kind: { group: string; plural: string }) => boolean,
  subresource: string | undefined,
  verbs: readonly string[],
): string[] {
  const reasons: string[] = [];
  if (is(kind)) {
    if (subresource === "status") reasons.push(`reports the status of each ${kind.kind}`);
    else if (subresource === "finalizers") reasons.push(`sets blockOwnerDeletion on children of each ${kind.kind}`);
    else if (subresource === undefined) {
      const cleans = finalizer && verbs.includes("patch") ? " and blocks its deletion until cleanup is done" : "";
      reasons.push(`reconciles each ${kind.kind}${cleans}`);
    }
  }
  const owned = subresource === undefined ? owns.find((one) => is(one.kind)) : undefined;
  if (owned) reasons.push(`creates and ${owned.createOnly ? "deletes" : "updates"} children of each ${kind.kind}`);
  const optional = [
    ...owns,
    ...(options.watches ?? []).map(({ options: { optional }, kind: of }) => ({ kind: of, optional })),
  ];
  for (const one of optional.filter(({ optional: is }) => is)) {
    if (is(CustomResourceDefinition)) reasons.push(`watches whether ${one.kind.kind} is installed`);
  }
  if (subresource === undefined && options.watches?.some((watched) => is(watched.kind))) {
    reasons.push(`reads them for each ${kind.kind}`);
  }
  const uses = options.permissions?.filter((used) => is(used.kind) && used.subresource === subresource) ?? [];
  const known = new Set(uses.flatMap(({ why }) => why ?? []));
  reasons.push(...known);
  const unexplained = uses.filter(({ why }) => !why);
  if (unexplained.some(({ forOthers }) => !forOthers)) reasons.push(`uses them in its code for each ${kind.kind}`);
  if (unexplained.some(({ forOthers }) => forOthers))
    reasons.push(`grants them to what it creates for each ${kind.kind}`);
  return reasons;
}

const onlyCreates = (verbs: readonly string[]) => verbs.length === 1 && verbs[0] === "create";

/** Reasons that differ only in the kind they speak of become one. */
function sentence(reasons: readonly string[]): string {
  const kinds = new Map<string, string[]>();
  for (const reason of reasons) {
    const [, before = reason, kind, behind = ""] = /^(.* each )(\w+)(.*)$/.exec(reason) ?? [];
    const shape = kind === undefined ? reason : `${before}%${behind}`;
    kinds.set(shape, [...(kinds.get(shape) ?? []), ...(kind === undefined ? [] : [kind])]);
  }
  const text = [...kinds].map(([shape, named]) => shape.replace("%", listed(named))).join("; ");
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function listed(names: readonly string[]): string {
  if (names.length < 2) return names.join("");
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
