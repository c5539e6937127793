import type { Clock } from "@konverge/core";
import type { Pod, PodCondition } from "@konverge/kinds";

/** A condition of a pod. */
export function podCondition({ status }: Pod, type: string): PodCondition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

export const isReady = (pod: Pod): boolean => podCondition(pod, "Ready")?.status === "True";

/** Not ended, and not about to. */
export function isActive({ status, metadata }: Pod): boolean {
  return status?.phase !== "Succeeded" && status?.phase !== "Failed" && metadata.deletionTimestamp === undefined;
}

/** Ended, well or not. */
export function isTerminal({ status }: Pod): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

/** Being deleted, but its containers may still run. */
export const isTerminating = (pod: Pod): boolean => pod.metadata.deletionTimestamp !== undefined && !isTerminal(pod);

/** Ready for at least `minReadySeconds`. */
export function isAvailable(pod: Pod, minReadySeconds: number, clock: Clock): boolean {
  if (!isReady(pod)) return false;
  return minReadySeconds === 0 || untilAvailable(pod, minReadySeconds, clock) <= 0;
}

/** Milliseconds until a ready pod counts as available. */
export function untilAvailable(pod: Pod, minReadySeconds: number, clock: Clock): number {
  const since = podCondition(pod, "Ready")?.lastTransitionTime;
  if (!since) return Number.POSITIVE_INFINITY;
  return Date.parse(since) + minReadySeconds * 1000 - clock.now();
}

/** Milliseconds until the next of some ready pods becomes available, if one does. */
export function nextAvailable(pods: readonly Pod[], minReadySeconds: number, clock: Clock): number | undefined {
  if (minReadySeconds === 0) return undefined;
  const waits = pods.filter(isReady).map((pod) => untilAvailable(pod, minReadySeconds, clock));
  const next = Math.min(...waits.filter((ms) => ms > 0));
  return Number.isFinite(next) ? next : undefined;
}
