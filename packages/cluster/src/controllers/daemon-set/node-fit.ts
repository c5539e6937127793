import type { Node, PodSpec, Toleration } from "@konverge/kinds";
import { matchesNodeAffinity, tolerates } from "../node/node-matching.ts";

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
  const { name, labels = {} } = node.metadata;
  const { nodeSelector, affinity } = spec;
  if (!matchesNodeAffinity({ nodeSelector, nodeAffinity: affinity?.nodeAffinity }, { name, labels })) return no;
  const tolerations = daemonTolerations(spec);
  const untolerated = (node.spec?.taints ?? []).filter(
    (taint) => taint.effect !== "PreferNoSchedule" && !tolerates(tolerations, taint),
  );
  return {
    shouldRun: untolerated.length === 0,
    mayStay: !untolerated.some(({ effect }) => effect === "NoExecute"),
  };
}
