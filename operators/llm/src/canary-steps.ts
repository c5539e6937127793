import type { WorkloadProblem } from "konverge/pods";
import { isMissed, MEASUREMENT_WINDOW_MS, missedReason, type ObjectiveResult } from "konverge/sizing";
import { formatDurationMs } from "konverge/time";
import { missedText } from "./objective-text.ts";
import type { CanaryStatus } from "./rollout-spec.ts";

/** What is known about a canary when its next step is decided. */
export interface CanaryObservation {
  /** The revision of the spec. */
  readonly revision: string;
  readonly steps: number;
  readonly intervalMs: number;
  /** How long its replicas can take to become ready. */
  readonly deadlineMs: number;
  /** The percentage of requests that it gets. */
  readonly weight: number;
  /** The replicas that this step takes, none while the model is scaled to zero; and those that serve. */
  readonly replicas: number;
  readonly readyReplicas: number;
  readonly results: readonly ObjectiveResult[];
  readonly percentile: number;
  /** The percentage of its requests that fail, if it is known, and that can fail. */
  readonly errorRate: number | undefined;
  readonly maxErrorRate: number;
  /** What keeps its replicas from serving. */
  readonly problem: WorkloadProblem | undefined;
  /** Whether one of its servers exits again and again. */
  readonly isCrashing: boolean;
  /** Whether all stable replicas run its revision. */
  readonly isPromoted: boolean;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** One slow minute can be a cold start; requests of that minute are in the measurements of the next. */
const MISSED_FOR_MS = 2 * MEASUREMENT_WINDOW_MS;

/**
 * The next state of a canary; undefined when it is promoted.
 *
 * Flow: Starting, until the replicas of the step are ready; Analyzing, until they have been ready and within the SLA for
 * the interval; then the next step, or Promoting, until the stable replicas run the revision.
 *
 * Guarantees: a canary that is RolledBack stays so until the revision of the spec changes. Everything that a decision
 * depends on is in the status, so a restarted operator continues. A decision is carried out only once it is in the status:
 * a crash in between cannot undo half of it.
 */
export function nextCanary(before: CanaryStatus | undefined, observation: CanaryObservation): CanaryStatus | undefined {
  if (before?.revision !== observation.revision) return starting(observation, 0);
  if (before.phase === "RolledBack") return before;
  const { weight, replicas, readyReplicas } = observation;
  const step = Math.min(before.step, observation.steps - 1);
  const current: CanaryStatus = { ...before, step, weight, replicas, readyReplicas };
  if (before.phase === "Promoting") return observation.isPromoted ? undefined : current;
  if (replicas === 0) return starting({ ...observation, now: undefined }, step);
  const elapsed = observation.now - Date.parse(before.since ?? timeText(observation.now));
  if (observation.isCrashing) return rolledBack(current, observation, observation.problem ?? CRASHING);
  if (readyReplicas < replicas) {
    if (before.phase !== "Starting" || before.since === undefined) return starting(observation, step);
    return elapsed < observation.deadlineMs ? current : rolledBack(current, observation, notReady(observation));
  }
  if (before.phase === "Starting") return { ...starting(observation, step), phase: "Analyzing" };
  return analyzed(current, elapsed, observation);
}

function analyzed(current: CanaryStatus, elapsed: number, observation: CanaryObservation): CanaryStatus {
  const { missedSince: since = timeText(observation.now), ...met } = current;
  const missed = missedObjectives(observation);
  if (missed) {
    const isCertain = observation.now - Date.parse(since) >= MISSED_FOR_MS;
    return isCertain ? rolledBack(met, observation, missed) : { ...met, missedSince: since };
  }
  const isMeasured = observation.results.every(({ measured }) => measured !== undefined);
  if (elapsed < observation.intervalMs || !isMeasured) return met;
  if (met.step + 1 < observation.steps) return starting(observation, met.step + 1);
  return { ...met, phase: "Promoting", since: timeText(observation.now) };
}

function missedObjectives({ results, percentile, errorRate, maxErrorRate }: CanaryObservation) {
  if (errorRate !== undefined && errorRate > maxErrorRate) {
    const message = `${Number(errorRate.toPrecision(2))}% of the requests fail, more than ${maxErrorRate}%`;
    return { reason: "ErrorRateAboveMaximum", message };
  }
  const missed = results.filter(isMissed).sort((a, b) => b.measured / b.max - a.measured / a.max);
  return missed[0] && { reason: missedReason(missed[0].indicator), message: missedText(missed, percentile) };
}

function starting(
  { revision, weight, replicas, readyReplicas, now }: Omit<CanaryObservation, "now"> & { now: number | undefined },
  step: number,
): CanaryStatus {
  const since = now === undefined ? {} : { since: timeText(now) };
  return { revision, phase: "Starting", step, weight, replicas, readyReplicas, ...since };
}

function rolledBack({ revision, step }: CanaryStatus, { now }: CanaryObservation, why: WorkloadProblem): CanaryStatus {
  const { reason, message } = why;
  const numbers = { weight: 0, replicas: 0, readyReplicas: 0 };
  return { revision, phase: "RolledBack", step, ...numbers, since: timeText(now), reason, message };
}

const CRASHING: WorkloadProblem = { reason: "ContainerCrashes", message: "a server exits again and again" };

function notReady({ readyReplicas, replicas, deadlineMs, problem }: CanaryObservation): WorkloadProblem {
  const count = `${readyReplicas} of ${replicas} replicas were ready after ${formatDurationMs(deadlineMs)}`;
  return { reason: problem?.reason ?? "NotReady", message: problem ? `${count}: ${problem.message}` : count };
}

function timeText(now: number): string {
  return `${new Date(now).toISOString().slice(0, 19)}Z`;
}
