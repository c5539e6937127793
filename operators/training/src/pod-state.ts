import type { Pod } from "konverge/kinds";
import { podProblem } from "konverge/pods";
import { ATTEMPT_LABEL, CONTAINER, INDEX_LABEL, ROLE_LABEL, type Role, SPEC_LABEL } from "./names.ts";

/** Why a pod ended in failure. */
export interface ExitCause {
  readonly exitCode?: number;
  readonly signal?: number;
  readonly reason: string;
  readonly message?: string;
  /** RFC 3339; of a pod that says nothing, when it was created. */
  readonly time: string;
  /** The cluster ended it, not the program. */
  readonly isDisruption: boolean;
}

/** What keeps a pod from running. */
export interface Obstacle {
  readonly reason: "Unschedulable" | "ClaimNotFound" | "ImagePullFailed" | "ConfigError" | "VolumeProblem";
  readonly message: string;
}

/** A pod of a job as the operator sees it. */
export interface PodState<P extends Pod = Pod> {
  readonly pod: P;
  readonly role: Role;
  readonly index: number;
  readonly attempt: number;
  readonly specHash: string;
  readonly state: "Pending" | "Running" | "Succeeded" | "Failed" | "Terminating";
  readonly cause?: ExitCause;
  readonly obstacle?: Obstacle;
}

/** Pod reasons that imply that the node or the scheduler ended the pod. */
const DISRUPTIONS = new Set([
  "Evicted",
  "Preempted",
  "Preempting",
  "NodeLost",
  "NodeShutdown",
  "Shutdown",
  "Terminated",
]);

/** Reads a pod that was made for a job; undefined if it lacks the labels that say which one it is. */
export function podState<P extends Pod>(pod: P): PodState<P> | undefined {
  const { labels = {}, deletionTimestamp } = pod.metadata;
  const role = labels[ROLE_LABEL];
  const index = Number.parseInt(labels[INDEX_LABEL] ?? "", 10);
  if ((role !== "worker" && role !== "ps") || Number.isNaN(index)) return undefined;
  const attempt = Number.parseInt(labels[ATTEMPT_LABEL] ?? "", 10) || 0;
  const common = { pod, role, index, attempt, specHash: labels[SPEC_LABEL] ?? "" } as const;
  if (deletionTimestamp) return { ...common, state: "Terminating" };
  const { phase } = pod.status ?? {};
  if (phase === "Running" || phase === "Succeeded") return { ...common, state: phase };
  if (phase === "Failed") return { ...common, state: "Failed", cause: exitCauseOf(pod) };
  const obstacle = obstacleOf(pod);
  return { ...common, state: "Pending", ...(obstacle && { obstacle }) };
}

function exitCauseOf({ metadata, status }: Pod): ExitCause {
  const ended = status?.containerStatuses?.find(({ name }) => name === CONTAINER)?.state?.terminated;
  const disruption = status?.conditions?.find(({ type, status: is }) => type === "DisruptionTarget" && is === "True");
  const isDisruption = disruption !== undefined || DISRUPTIONS.has(status?.reason ?? "");
  const message = (isDisruption ? (disruption?.message ?? status?.message) : undefined) ?? ended?.message;
  return {
    ...(ended && { exitCode: ended.exitCode }),
    ...(signalOf(ended) !== undefined && { signal: signalOf(ended)! }),
    reason: (isDisruption && (status?.reason || disruption?.reason)) || ended?.reason || status?.reason || "Error",
    ...((message ?? status?.message) && { message: lastLines(message ?? status!.message!) }),
    time: ended?.finishedAt ?? disruption?.lastTransitionTime ?? metadata.creationTimestamp ?? "",
    isDisruption,
  };
}

/** Shells report a signal by 128 and its number. */
function signalOf(ended: { signal?: number; exitCode: number } | undefined): number | undefined {
  if (ended?.signal) return ended.signal;
  return ended && ended.exitCode > 128 && ended.exitCode < 160 ? ended.exitCode - 128 : undefined;
}

const LONGEST_MESSAGE = 500;

function lastLines(text: string): string {
  const trimmed = text.trimEnd();
  return trimmed.length <= LONGEST_MESSAGE ? trimmed : `…${trimmed.slice(1 - LONGEST_MESSAGE)}`;
}

/** The reasons under which jobs report these. */
function obstacleOf(pod: Pod): Obstacle | undefined {
  const problem = podProblem(pod);
  switch (problem?.reason) {
    case "ImageCannotBePulled": {
      const message = `the image ${problem.container?.image} cannot be pulled: check its name and pull secrets`;
      return { reason: "ImagePullFailed", message };
    }
    case "ContainerCannotStart":
      return { reason: "ConfigError", message: problem.reported.message };
    case "ClaimMissing":
      return { reason: "ClaimNotFound", message: `the claim ${problem.claim} does not exist: create it` };
    case "ClaimUnbound":
      return { reason: "VolumeProblem", message: problem.reported.message };
    case "NoRoom":
      return { reason: "Unschedulable", message: problem.reported.message };
    // A container that crashes makes the pod fail, which is judged by its exit code.
    default:
      return undefined;
  }
}

/**
 * Nodes report times in seconds, on clocks that differ slightly: the order of failures within this interval, in
 * milliseconds, is unknown.
 */
export const TIME_TOLERANCE = 2_000;

/**
 * The failure that caused the others: the first, or of several at about the same time the one with an external cause. A
 * peer whose connection broke exits with an error, and may be reported before the worker that was killed.
 */
export function firstFailure(pods: readonly PodState[]): PodState | undefined {
  const failed = pods.filter(({ state }) => state === "Failed");
  const earliest = Math.min(...failed.map(timeOf));
  const candidates = failed.filter((one) => !(timeOf(one) > earliest + TIME_TOLERANCE));
  return candidates.sort(comesBefore)[0];
}

function comesBefore(a: PodState, b: PodState): number {
  const outside = Number(isFromOutside(b)) - Number(isFromOutside(a));
  return outside || timeOf(a) - timeOf(b) || a.index - b.index;
}

/** When a pod failed, in milliseconds since 1970. */
export const timeOf = ({ cause }: PodState): number => Date.parse(cause?.time ?? "") || 0;

const SIGABRT = 6;

/** The cluster or the kernel ended it. A program aborts itself too, when it waits in vain for another. */
export function isFromOutside({ cause }: PodState): boolean {
  return cause !== undefined && (cause.isDisruption || (cause.signal !== undefined && cause.signal !== SIGABRT));
}

/** When the training container of a pod ended. */
export function endTimeOf({ pod }: PodState): string | undefined {
  return pod.status?.containerStatuses?.find(({ name }) => name === CONTAINER)?.state?.terminated?.finishedAt;
}

/** When the deletion of a pod was requested, in milliseconds since 1970. */
export function deletedAt({ pod: { metadata } }: PodState): number {
  return Date.parse(metadata.deletionTimestamp ?? "") - 1000 * (metadata.deletionGracePeriodSeconds ?? 0);
}

/** How long after its grace period a pod still counts as about to end, in milliseconds. */
const OVERDUE = 30_000;

/** When a pod that is being deleted has had its time: its node is lost, or cannot stop it. In milliseconds since 1970. */
export function overdueAt({ pod: { metadata } }: PodState): number {
  return Date.parse(metadata.deletionTimestamp ?? "") + OVERDUE;
}
