import type { Pod } from "konverge/kinds";
import { SERVING } from "./names.ts";

/** On a pod that is to go: since when it gets no more requests. */
export const DRAINED_SINCE = "nvidia.com/draining-since";
/** What Kubernetes goes by when it chooses which pod to delete. */
export const DELETION_COST = "controller.kubernetes.io/pod-deletion-cost";
/** Lower than the deletion cost of any pod without the annotation. */
export const CHEAP = "-1000";

/** The pods to remove, those that are being removed, and those that should stay after all. */
export interface DrainPlan {
  /** Pods that are to be taken out of the routing. */
  readonly mark: readonly Pod[];
  /** Pods that are marked and should stay, because more are needed again. */
  readonly unmark: readonly Pod[];
  /** Pods that are out of the routing and may still work on something. */
  readonly draining: readonly Pod[];
}

export const isMarked = ({ metadata }: Pod) => metadata.labels?.[SERVING] === "false";
const isReady = ({ status }: Pod) =>
  status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false;

/**
 * Who goes when fewer pods are wanted than there are. Pods that are not ready go first: they work on nothing, and are what
 * Kubernetes deletes first. Of the others those that are marked already, then the youngest.
 *
 * It follows from the pods alone, so that a drain goes on after a crash of the operator.
 */
export function drainPlan(pods: readonly Pod[], wanted: number): DrainPlan {
  const alive = pods.filter(({ metadata }) => !metadata.deletionTimestamp);
  const surplus = Math.max(0, alive.length - wanted);
  const going = [...alive].sort(goesBefore).slice(0, surplus);
  return {
    mark: going.filter((pod) => isReady(pod) && !isMarked(pod)),
    unmark: alive.filter((pod) => isMarked(pod) && !going.includes(pod)),
    draining: going.filter((pod) => isReady(pod) && isMarked(pod)),
  };
}

function goesBefore(a: Pod, b: Pod): number {
  const rank = (pod: Pod) => (isReady(pod) ? (isMarked(pod) ? 1 : 2) : 0);
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  const born = (pod: Pod) => Date.parse(pod.metadata.creationTimestamp ?? "") || 0;
  return born(b) - born(a) || (a.metadata.name < b.metadata.name ? 1 : -1);
}
