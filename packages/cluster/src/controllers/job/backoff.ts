import type { Clock } from "@konverge/core";
import type { ContainerStatus, Pod } from "@konverge/kinds";
import { podCondition } from "../workloads/pod-state.ts";

const FIRST_WAIT = 10_000;
const LONGEST_WAIT = 600_000;

/** The recent failures of a Job's pods, from which its backoff is computed. */
export interface FailureHistory {
  failuresSinceSuccess: number;
  lastFailure: number | undefined;
}

/** Adds pods that have finished since. */
export function failureHistoryAfter(
  before: FailureHistory | undefined,
  succeeded: readonly Pod[],
  failed: readonly Pod[],
  clock: Clock,
): FailureHistory {
  const known = before ?? { failuresSinceSuccess: 0, lastFailure: undefined };
  const times = failed.map((pod) => finishedAt(pod, clock)).sort((a, b) => a - b);
  if (succeeded.length === 0) {
    if (times.length === 0) return known;
    return { failuresSinceSuccess: known.failuresSinceSuccess + times.length, lastFailure: times.at(-1) };
  }
  const lastSuccess = Math.max(...succeeded.map((pod) => finishedAt(pod, clock)));
  const since = times.filter((time) => time > lastSuccess);
  return { failuresSinceSuccess: since.length, lastFailure: since.at(-1) };
}

/** Milliseconds to wait before the next pod is created. */
export function waitAfter({ failuresSinceSuccess, lastFailure }: FailureHistory, clock: Clock): number {
  if (failuresSinceSuccess === 0 || lastFailure === undefined) return 0;
  const wait = Math.min(FIRST_WAIT * 2 ** Math.min(failuresSinceSuccess - 1, 30), LONGEST_WAIT);
  return Math.max(0, lastFailure + wait - clock.now());
}

/** When a pod ended: when its last container did, or else what comes closest. */
export function finishedAt(pod: Pod, clock: Clock): number {
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {};
  const ends = (statuses: readonly ContainerStatus[]) =>
    statuses.map(({ state }) => Date.parse(state?.terminated?.finishedAt ?? ""));
  const times = ends(containerStatuses);
  const sidecarsAndInits = ends(initContainerStatuses).filter((time) => !Number.isNaN(time));
  if (times.length > 0 && times.every((time) => !Number.isNaN(time))) return Math.max(...times, ...sidecarsAndInits);
  const ready = podCondition(pod, "Ready");
  if (ready?.status === "False" && ready.lastTransitionTime) return Date.parse(ready.lastTransitionTime);
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = pod.metadata;
  if (deletionTimestamp) return Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1000;
  return clock.now();
}
