import { matchesTerm, tolerates } from "../controllers/node/node-matching.ts";
import type { ClusterState } from "./cluster-state.ts";
import type { Filters } from "./filters.ts";
import type { NodeInfo } from "./node-info.ts";
import type { PodInfo } from "./pod-info.ts";

/** Pods without requests count for something, or a node could be filled with them. */
const LEAST_CPU = 100;
const LEAST_MEMORY = 200 * 1024 * 1024;

/** The weights of kube-scheduler's default profile; the locality of images does not matter where none are pulled. */
const WEIGHTS = { taints: 3, nodeAffinity: 2, spread: 2, interPod: 2, leastAllocated: 1, balanced: 1 };

/** The best of the nodes that a pod may be on; several that are equally good are given to `choose`. */
export function bestNode(
  filters: Filters,
  nodes: readonly NodeInfo[],
  state: ClusterState,
  choose: (count: number) => number,
): NodeInfo {
  if (nodes.length === 1) return nodes[0]!;
  const { pod } = filters;
  const totals = nodes.map((node) => resourceScore(pod, node));
  const add = (weight: number, raw: readonly number[] | undefined, lowerIsBetter: boolean) => {
    if (!raw) return;
    const most = Math.max(...raw);
    const least = Math.min(...raw);
    if (most === least) return;
    for (const [i, value] of raw.entries()) {
      const share = (value - least) / (most - least);
      totals[i]! += weight * 100 * (lowerIsBetter ? 1 - share : share);
    }
  };
  add(WEIGHTS.taints, dislikes(pod, nodes), true);
  add(WEIGHTS.nodeAffinity, likes(pod, nodes), false);
  add(WEIGHTS.spread, crowding(filters, nodes, state), true);
  if (!filters.interPod.isEmpty || pod.preferred.length > 0) {
    add(
      WEIGHTS.interPod,
      nodes.map((node) => filters.interPod.preference(node)),
      false,
    );
  }
  let best: number[] = [];
  let highest = Number.NEGATIVE_INFINITY;
  for (const [i, total] of totals.entries()) {
    if (total > highest) {
      highest = total;
      best = [i];
    } else if (total === highest) best.push(i);
  }
  return nodes[best[best.length === 1 ? 0 : choose(best.length)]!]!;
}

function resourceScore(pod: PodInfo, node: NodeInfo): number {
  const cpu = share(pod, node, "cpu", LEAST_CPU);
  const memory = share(pod, node, "memory", LEAST_MEMORY);
  const leastAllocated = Math.floor(((1 - cpu) * 100 + (1 - memory) * 100) / 2);
  const balanced = Math.floor((1 - Math.abs(cpu - memory) / 2) * 100);
  return WEIGHTS.leastAllocated * leastAllocated + WEIGHTS.balanced * balanced;
}

/** How much of a resource would be spoken for if the pod were on the node. */
function share(pod: PodInfo, node: NodeInfo, resource: string, least: number): number {
  const total = node.allocatable.get(resource) ?? 0;
  if (total === 0) return 1;
  const wanted = pod.requests.get(resource) || least;
  return Math.min(1, ((node.requested.get(resource) ?? 0) + wanted) / total);
}

function dislikes({ tolerations }: PodInfo, nodes: readonly NodeInfo[]): number[] | undefined {
  if (nodes.every(({ taints }) => taints.length === 0)) return undefined;
  const counts = ({ taints }: NodeInfo) =>
    taints.filter((taint) => taint.effect === "PreferNoSchedule" && !tolerates(tolerations, taint)).length;
  return nodes.map(counts);
}

function likes({ nodeAffinity }: PodInfo, nodes: readonly NodeInfo[]): number[] | undefined {
  const terms = nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution;
  if (!terms?.length) return undefined;
  return nodes.map((node) =>
    terms.reduce((sum, { weight, preference }) => sum + (matchesTerm(node, preference) ? weight : 0), 0),
  );
}

/** The pod's own `ScheduleAnyway` constraints; without any constraint, pods of one owner are spread over the nodes. */
function crowding({ pod, spread }: Filters, nodes: readonly NodeInfo[], state: ClusterState): number[] | undefined {
  if (spread.hasSoftConstraints) return nodes.map((node) => spread.crowding(node));
  if (pod.spread.length > 0) return undefined;
  const owned = state.ownedOn(pod.owner);
  return owned && nodes.map((node) => owned.get(node.name) ?? 0);
}
