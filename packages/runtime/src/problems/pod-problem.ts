import type { ContainerStatus, Pod } from "@konverge/kinds";
import { lastWords } from "./last-words.ts";
import type { WorkloadProblem } from "./problem.ts";

/** The reasons why a pod does not run. */
export type PodProblemReason =
  | "ImageCannotBePulled"
  | "ContainerCannotStart"
  | "ContainerCrashes"
  | "ClaimMissing"
  | "ClaimUnbound"
  | "NoRoom";

/** What keeps one pod from running. */
export interface PodProblem extends WorkloadProblem {
  readonly reason: PodProblemReason;
  /** The pod's name. */
  readonly pod: string;
  /** The affected container or PersistentVolumeClaim. */
  readonly container?: { readonly name: string; readonly image: string };
  readonly claim?: string;
  /** The cluster's own message, which can change between reconciles. */
  readonly reported: { readonly reason: string; readonly message: string };
  /** Since when no node fits the pod, in milliseconds since 1970; undefined for other problems. */
  readonly since?: number;
}

const PULLING = new Set(["ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"]);
const STARTING = new Set(["CreateContainerConfigError", "CreateContainerError", "RunContainerError"]);
const LOOPING = "CrashLoopBackOff";
/** A node forgives a container that has run for this time, in milliseconds: it no longer waits before the next restart. */
const FORGIVEN_AFTER = 10 * 60_000;
/** A container that was restarted this often and is ready may fail again. */
const REPEATED = 2;

/**
 * Why a pod does not run; undefined if no problem is known, or if the pod is terminating or has succeeded. A container that
 * runs again after a failure has a problem until it has started, and if it fails again and again, until it has been ready
 * for ten minutes: `now` is the time in milliseconds since 1970. Without it, only what has not started counts.
 *
 *     podProblem(pod); // { reason: "ClaimMissing", message: "there is no PersistentVolumeClaim weights …", … }
 */
export function podProblem(pod: Pod, now?: number): PodProblem | undefined {
  const { metadata, status } = pod;
  if (metadata.deletionTimestamp || status?.phase === "Succeeded") return undefined;
  // Those that come first, and those that stay.
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const readySince = readyTime(pod);
  const judges = [startProblem, crash, (container: ContainerStatus) => recentCrash(container, readySince, now)];
  for (const judge of judges) {
    for (const container of containers) {
      const found = judge(container);
      if (found) return { ...found, pod: metadata.name, container: { name: container.name, image: container.image } };
    }
  }
  return placement(pod);
}

type Found = Omit<PodProblem, "pod">;
type Ended = NonNullable<NonNullable<ContainerStatus["state"]>["terminated"]>;

function startProblem({ image, state }: ContainerStatus): Found | undefined {
  const { reason = "", message = "" } = state?.waiting ?? {};
  const reported = { reason, message };
  if (PULLING.has(reason)) {
    const why = withoutTries(message) || reason;
    return { reason: "ImageCannotBePulled", message: `the image ${image} cannot be pulled: ${why}`, reported };
  }
  if (!STARTING.has(reason)) return undefined;
  return {
    reason: "ContainerCannotStart",
    message: `the container cannot be started: ${message || reason}`,
    reported,
  };
}

/** Without what a kubelet adds while it waits for the next try. */
function withoutTries(message: string): string {
  return message.replace(/^Back-off pulling image "[^"]*":? ?/, "");
}

function crash({ name, state, lastState }: ContainerStatus): Found | undefined {
  const isLooping = state?.waiting?.reason === LOOPING;
  const ended = state?.terminated ?? (isLooping ? lastState?.terminated : undefined);
  if (!isLooping && (!ended || ended.exitCode === 0)) return undefined;
  return crashed(name, ended, isLooping);
}

/** A server that takes minutes to fail runs most of the time between its failures. */
function recentCrash(container: ContainerStatus, readySince: number, now: number | undefined): Found | undefined {
  const { name, state, lastState, started, ready, restartCount } = container;
  const ended = lastState?.terminated;
  if (!state?.running || !ended || ended.exitCode === 0) return undefined;
  if (started === false) return crashed(name, ended, true);
  if (now === undefined || (ready && restartCount < REPEATED)) return undefined;
  const since = ready ? readySince : Date.parse(ended.finishedAt ?? "");
  return now - since < FORGIVEN_AFTER ? crashed(name, ended, true) : undefined;
}

/** When a pod became ready, in milliseconds since 1970; minus infinity if that is not known. */
function readyTime({ status }: Pod): number {
  const ready = status?.conditions?.find((one) => one.type === "Ready" && one.status === "True");
  const time = Date.parse(ready?.lastTransitionTime ?? "");
  return Number.isNaN(time) ? Number.NEGATIVE_INFINITY : time;
}

function crashed(name: string, ended: Ended | undefined, isLooping: boolean): Found {
  const last = lastWords(ended?.message ?? "");
  const words = last && `: ${last}`;
  const code = ended ? `exits with code ${ended.exitCode}` : "keeps exiting";
  const how = ended?.reason === "OOMKilled" ? "ran out of memory" : code;
  return {
    reason: "ContainerCrashes",
    message: `the container ${name} ${how}${words}`,
    reported: { reason: isLooping ? LOOPING : (ended?.reason ?? "Error"), message: ended?.message ?? "" },
  };
}

function placement({ metadata, status }: Pod): PodProblem | undefined {
  const scheduled = status?.conditions?.find(({ type }) => type === "PodScheduled");
  if (scheduled?.status !== "False" || scheduled.reason !== "Unschedulable") return undefined;
  const { message = "", reason, lastTransitionTime = "" } = scheduled;
  const common = { pod: metadata.name, reported: { reason, message } };
  const claim = /persistentvolumeclaim "([^"]+)" not found/.exec(message)?.[1];
  if (claim) {
    const why = `there is no PersistentVolumeClaim ${claim} in this namespace`;
    return { ...common, reason: "ClaimMissing", message: why, claim };
  }
  const since = Date.parse(lastTransitionTime);
  if (/unbound immediate PersistentVolumeClaims/.test(message))
    return { ...common, reason: "ClaimUnbound", message: `a pod is waiting for its volume: ${message}`, since };
  return { ...common, reason: "NoRoom", message: `a pod cannot be scheduled: ${message}`, since };
}
