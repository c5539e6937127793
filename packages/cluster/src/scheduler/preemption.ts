import { matchesLabels, requirementsOf } from "@konverge/core";
import type { PodDisruptionBudget } from "@konverge/kinds";
import type { ClusterState } from "./cluster-state.ts";
import { Filters, type Refusal, refusalText } from "./filters.ts";
import type { NodeInfo } from "./node-info.ts";
import type { PodInfo } from "./pod-info.ts";
import type { VolumeRules } from "./volumes.ts";

/** A candidate node for preemption, and its victims. */
export interface Candidate {
  readonly node: NodeInfo;
  readonly victims: readonly PodInfo[];
  readonly violations: number;
}

/** The outcome of the search for pods of lower priority: a candidate, or why there is none. */
export type Preemption = { candidate: Candidate } | { message: string };

/** The number of candidate nodes that are evaluated: the first suitable ones are enough in a large cluster. */
const MOST_CANDIDATES = 100;

const NO_VICTIMS = "No preemption victims found for incoming pod";
const NOT_HELPFUL = "Preemption is not helpful for scheduling";

/** Finds pods of lower priority whose going would make room for a pod. Nothing is changed. */
export function findVictims(
  pod: PodInfo,
  state: ClusterState,
  volumes: VolumeRules | undefined,
  refusals: ReadonlyMap<NodeInfo, Refusal>,
  budgets: readonly PodDisruptionBudget[],
): Preemption {
  if (!pod.preempts) return { message: "preemption: not eligible due to preemptionPolicy=Never." };
  if (waitsForVictims(pod, state)) {
    return { message: "preemption: not eligible due to a terminating pod on the nominated node." };
  }
  const candidates: Candidate[] = [];
  const failures: (readonly string[])[] = [];
  for (const node of state.nodes) {
    const refusal = refusals.get(node);
    if (!refusal || refusal.unresolvable) failures.push([NOT_HELPFUL]);
    else if (candidates.length < MOST_CANDIDATES) {
      const outcome = victimsOn(node, pod, state, volumes, budgets);
      if ("victims" in outcome) candidates.push(outcome);
      else failures.push(outcome.reasons);
    }
  }
  const [best] = candidates.sort(byHarm);
  if (best) return { candidate: best };
  return { message: `preemption: ${refusalText(state.nodes.length, failures)}` };
}

/** Its victims are on their way out: it need not choose others. */
function waitsForVictims(pod: PodInfo, state: ClusterState): boolean {
  const node = state.node(pod.nominated);
  if (!node) return false;
  for (const other of node.pods.values()) if (other.terminating && other.priority < pod.priority) return true;
  return false;
}

function victimsOn(
  node: NodeInfo,
  pod: PodInfo,
  state: ClusterState,
  volumes: VolumeRules | undefined,
  budgets: readonly PodDisruptionBudget[],
): Candidate | { reasons: readonly string[] } {
  const lower = [...node.pods.values()].filter(({ priority }) => priority < pod.priority);
  if (lower.length === 0) return { reasons: [NO_VICTIMS] };
  const filters = new Filters(pod, state, volumes);
  const change = (other: PodInfo, sign: 1 | -1) => {
    if (sign < 0) node.remove(other);
    else node.add(other);
    filters.interPod.change(other, node, sign);
    filters.spread.change(other, node, sign);
    filters.exclusive.change(other, sign);
  };
  for (const other of lower) change(other, -1);
  const refusal = filters.judge(node);
  const victims: PodInfo[] = [];
  let violations = 0;
  if (!refusal) {
    // Those that a budget protects are spared first, then the most important.
    const { violating, others } = byBudget(lower.sort(byImportance), budgets);
    for (const group of [violating, others]) {
      for (const other of group) {
        change(other, 1);
        if (!filters.judge(node)) continue;
        change(other, -1);
        victims.push(other);
        if (group === violating) violations++;
      }
    }
  }
  // It was only a thought.
  for (const other of refusal ? lower : victims) node.add(other);
  if (refusal) return { reasons: refusal.reasons };
  return { node, victims: victims.sort(byImportance), violations };
}

function byBudget(pods: readonly PodInfo[], budgets: readonly PodDisruptionBudget[]) {
  const left = budgets.map(({ status }) => status?.disruptionsAllowed ?? 0);
  const violating: PodInfo[] = [];
  const others: PodInfo[] = [];
  for (const pod of pods) {
    let violates = false;
    for (const [i, { metadata, spec }] of budgets.entries()) {
      if (metadata.namespace !== pod.namespace || !spec?.selector || Object.keys(pod.labels).length === 0) continue;
      if (!matchesLabels(requirementsOf(spec.selector as never), pod.labels as Record<string, string>)) continue;
      left[i]!--;
      violates ||= left[i]! < 0;
    }
    (violates ? violating : others).push(pod);
  }
  return { violating, others };
}

function byImportance(a: PodInfo, b: PodInfo): number {
  return b.priority - a.priority || (a.startTime < b.startTime ? -1 : a.startTime > b.startTime ? 1 : 0);
}

/** The node where the least harm is done comes first. */
function byHarm(a: Candidate, b: Candidate): number {
  const sum = ({ victims }: Candidate) => victims.reduce((total, { priority }) => total + priority + 2 ** 31, 0);
  const highest = ({ victims }: Candidate) => victims[0]?.priority ?? Number.NEGATIVE_INFINITY;
  const earliest = ({ victims }: Candidate) =>
    victims
      .filter(({ priority }) => priority === victims[0]?.priority)
      .reduce((first, { startTime }) => (first === "" || startTime < first ? startTime : first), "");
  return (
    a.violations - b.violations ||
    highest(a) - highest(b) ||
    sum(a) - sum(b) ||
    a.victims.length - b.victims.length ||
    (earliest(a) > earliest(b) ? -1 : earliest(a) < earliest(b) ? 1 : 0)
  );
}
