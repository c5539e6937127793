import { type Clock, own } from "@konverge/core";
import type { Pod } from "@konverge/kinds";
import { isReady, podCondition } from "./pod-state.ts";

const COST = "controller.kubernetes.io/pod-deletion-cost";
const PHASES: Record<string, number> = { Pending: 0, Unknown: 1, Running: 2 };

/**
 * The pods in the order of deletion, least valuable first. `related` are all pods with the same purpose: pods on a node
 * with more of them are deleted first.
 */
export function inDeletionOrder(pods: readonly Pod[], related: readonly Pod[], clock: Clock): Pod[] {
  const perNode = Map.groupBy(related, ({ spec }) => spec?.nodeName ?? "");
  const crowd = ({ spec }: Pod) => (spec?.nodeName ? (perNode.get(spec.nodeName)?.length ?? 0) : 0);
  const criteria: ((a: Pod, b: Pod) => number)[] = [
    (a, b) => Number(hasNode(a)) - Number(hasNode(b)),
    (a, b) => phase(a) - phase(b),
    (a, b) => Number(isReady(a)) - Number(isReady(b)),
    (a, b) => deletionCost(a) - deletionCost(b),
    (a, b) => crowd(b) - crowd(a),
    (a, b) => (isReady(a) && isReady(b) ? newerFirst(readySince(a), readySince(b), clock) : 0),
    (a, b) => restarts(b) - restarts(a),
    (a, b) => newerFirst(a.metadata.creationTimestamp, b.metadata.creationTimestamp, clock),
    (a, b) => (a.metadata.uid! < b.metadata.uid! ? -1 : 1),
  ];
  return [...pods].sort((a, b) => {
    for (const compare of criteria) {
      const order = compare(a, b);
      if (order !== 0) return order;
    }
    return 0;
  });
}

const hasNode = ({ spec }: Pod) => Boolean(spec?.nodeName);
const phase = ({ status }: Pod) => own(PHASES, status?.phase ?? "Pending") ?? 2;
const readySince = (pod: Pod) => podCondition(pod, "Ready")?.lastTransitionTime;

function deletionCost({ metadata }: Pod): number {
  const text = metadata.annotations?.[COST];
  return text !== undefined && /^(0|[+-]?[1-9]\d*)$/.test(text) ? Number(text) : 0;
}

function restarts({ status }: Pod): number {
  const all = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  return Math.max(0, ...all.map(({ restartCount }) => restartCount));
}

/** Ages count by their order of magnitude, so that what is about as old is chosen among by chance. */
function newerFirst(a: string | undefined, b: string | undefined, clock: Clock): number {
  if (!a || !b) return Number(Boolean(b)) - Number(Boolean(a));
  const magnitude = (time: string) => {
    const seconds = (clock.now() - Date.parse(time)) / 1000;
    return seconds < 1 ? -1 : Math.floor(Math.log2(seconds));
  };
  return magnitude(a) - magnitude(b);
}
