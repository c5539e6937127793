import { type LabelOperator, labelRequirement, matchesLabels, own } from "@konverge/core";
import type { NodeAffinity, NodeSelectorRequirement, NodeSelectorTerm, Taint, Toleration } from "@konverge/kinds";

/** A node, as far as pods choose nodes by it. */
interface NamedNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** What a pod requires of its node. */
interface NodeRequirements {
  readonly nodeSelector?: Readonly<Record<string, string>> | undefined;
  readonly nodeAffinity?: NodeAffinity | undefined;
}

const OPERATORS: Readonly<Record<string, LabelOperator>> = {
  In: "in",
  NotIn: "notin",
  Exists: "exists",
  DoesNotExist: "!",
  Gt: "gt",
  Lt: "lt",
};

/** Whether a node satisfies one term: all of its requirements. A term without any matches nothing. */
export function matchesTerm(node: NamedNode, term: NodeSelectorTerm): boolean {
  const { matchExpressions = [], matchFields = [] } = term;
  if (matchExpressions.length + matchFields.length === 0) return false;
  const fields = { "metadata.name": node.name };
  return matchExpressions.every((one) => meets(one, node.labels)) && matchFields.every((one) => meets(one, fields));
}

function meets(
  { key, operator, values = [] }: NodeSelectorRequirement,
  labels: Readonly<Record<string, string>>,
): boolean {
  // Names of nodes need not be values of labels: they are compared as they are.
  if (key === "metadata.name") return values.includes(labels[key] ?? "") === (operator === "In");
  return matchesLabels(
    [labelRequirement(key, own(OPERATORS, operator) ?? "in", values)],
    labels as Record<string, string>,
  );
}

/** Whether the pod's node selector and required node affinity let it on a node. */
export function matchesNodeAffinity({ nodeSelector, nodeAffinity }: NodeRequirements, node: NamedNode): boolean {
  for (const key in nodeSelector) if (node.labels[key] !== nodeSelector[key]) return false;
  const required = nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return !required || required.nodeSelectorTerms.some((term) => matchesTerm(node, term));
}

/** Whether one of the tolerations covers a taint. */
export function tolerates(tolerations: readonly Toleration[], taint: Taint): boolean {
  return tolerations.some(({ key, operator = "Equal", value = "", effect }) => {
    if (effect && effect !== taint.effect) return false;
    if (key && key !== taint.key) return false;
    return operator === "Exists" || (Boolean(key) && value === (taint.value ?? ""));
  });
}

/** Whether a taint that keeps pods away is not tolerated. */
export function isRepelled(
  { tolerations }: { readonly tolerations: readonly Toleration[] },
  { taints }: { readonly taints: readonly Taint[] },
): boolean {
  return taints.some((taint) => taint.effect !== "PreferNoSchedule" && !tolerates(tolerations, taint));
}
