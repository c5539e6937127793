import { type LabelOperator, labelRequirement, matchesLabels } from "@konverge/core";
import type { Node, NodeSelectorRequirement, PodSpec, Taint, Toleration } from "@konverge/kinds";

/** Whether a daemon's pod belongs on a node, and may stay there if it is there already. */
export interface Fit {
  shouldRun: boolean;
  mayStay: boolean;
}

/** Daemons run through what would drive other pods away. */
const TOLERATED: readonly (readonly [string, "NoExecute" | "NoSchedule"])[] = [
  ["node.kubernetes.io/not-ready", "NoExecute"],
  ["node.kubernetes.io/unreachable", "NoExecute"],
  ["node.kubernetes.io/disk-pressure", "NoSchedule"],
  ["node.kubernetes.io/memory-pressure", "NoSchedule"],
  ["node.kubernetes.io/pid-pressure", "NoSchedule"],
  ["node.kubernetes.io/unschedulable", "NoSchedule"],
];

/** The tolerations of a daemon's pod: its own, and those that every daemon has. */
export function daemonTolerations({ tolerations = [], hostNetwork }: PodSpec): Toleration[] {
  const added: Toleration[] = TOLERATED.map(([key, effect]) => ({ key, operator: "Exists", effect }));
  if (hostNetwork)
    added.push({ key: "node.kubernetes.io/network-unavailable", operator: "Exists", effect: "NoSchedule" });
  const isNew = ({ key, effect }: Toleration) => !tolerations.some((own) => own.key === key && own.effect === effect);
  return [...tolerations, ...added.filter(isNew)];
}

/** Judges a node for a daemon. */
export function fitOf(spec: PodSpec, node: Node): Fit {
  const no: Fit = { shouldRun: false, mayStay: false };
  if (spec.nodeName && spec.nodeName !== node.metadata.name) return no;
  const { labels = {} } = node.metadata;
  for (const [key, value] of Object.entries(spec.nodeSelector ?? {})) if (labels[key] !== value) return no;
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  const isChosen = ({ matchExpressions = [], matchFields = [] }: NonNullable<typeof terms>[number]) =>
    matchExpressions.length + matchFields.length > 0 &&
    matchExpressions.every((requirement) => holds(requirement, labels)) &&
    matchFields.every((requirement) => holds(requirement, { [requirement.key]: node.metadata.name }));
  if (terms && !terms.some(isChosen)) return no;
  const tolerations = daemonTolerations(spec);
  const untolerated = (node.spec?.taints ?? []).filter(
    (taint) => taint.effect !== "PreferNoSchedule" && !tolerations.some((toleration) => tolerates(toleration, taint)),
  );
  return {
    shouldRun: untolerated.length === 0,
    mayStay: !untolerated.some(({ effect }) => effect === "NoExecute"),
  };
}

/** Whether a toleration covers a taint. */
export function tolerates({ key, operator, value, effect }: Toleration, taint: Taint): boolean {
  if (effect && effect !== taint.effect) return false;
  if (key && key !== taint.key) return false;
  return operator === "Exists" || (Boolean(key) && (value ?? "") === (taint.value ?? ""));
}

const OPERATORS: Record<string, LabelOperator> = {
  In: "in",
  NotIn: "notin",
  Exists: "exists",
  DoesNotExist: "!",
  Gt: "gt",
  Lt: "lt",
};

function holds({ key, operator, values = [] }: NodeSelectorRequirement, labels: Record<string, string>): boolean {
  const known = OPERATORS[operator];
  return known !== undefined && matchesLabels([labelRequirement(key, known, values)], labels);
}
