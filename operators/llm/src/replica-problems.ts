import type { Pod } from "konverge/kinds";
import { isOfType } from "./gpu-nodes.ts";

/** Why replicas do not come up, in a word and in a sentence. */
export interface Problem {
  readonly reason: string;
  readonly message: string;
}

/** What is known about the replicas of a server. */
export interface Replicas {
  readonly pods: readonly Pod[];
  /** What the API server says when it refuses to let pods be created. */
  readonly refusal?: string | undefined;
  readonly gpuType?: string | undefined;
  /** The GPU products that nodes offer. */
  readonly offered: readonly string[];
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** A node may be on its way: want of room counts only when it lasts, in milliseconds. */
export const PATIENCE = 30_000;

const PULLING = new Set(["ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"]);
const STARTING = new Set(["CreateContainerConfigError", "CreateContainerError", "RunContainerError"]);

/**
 * The most telling reason why replicas do not come up, or undefined if none is known. Pods that are on their way have no
 * problem.
 */
export function problemOf(replicas: Replicas): Problem | undefined {
  const { pods, refusal } = replicas;
  if (refusal) return refused(refusal);
  const living = pods.filter(({ metadata, status }) => !metadata.deletionTimestamp && status?.phase !== "Succeeded");
  return first(living, imageProblem) ?? first(living, crash) ?? first(living, (pod) => placement(pod, replicas));
}

function refused(message: string): Problem {
  if (/exceeded quota/.test(message))
    return { reason: "QuotaExceeded", message: `no more pods may be made: ${message}` };
  return { reason: "PodsRefused", message: `the API server refuses the pods: ${message}` };
}

/** Those that come first, and those that stay. */
function containersOf({ status }: Pod) {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
}

function imageProblem(pod: Pod): Problem | undefined {
  for (const { image, state } of containersOf(pod)) {
    const { reason = "", message = "" } = state?.waiting ?? {};
    if (PULLING.has(reason)) {
      return {
        reason: "ImageCannotBePulled",
        message: `the image ${image} cannot be pulled: ${steady(message) || reason}`,
      };
    }
    if (STARTING.has(reason)) {
      return { reason: "ContainerCannotStart", message: `the container cannot be started: ${message || reason}` };
    }
  }
  return undefined;
}

function crash(pod: Pod): Problem | undefined {
  for (const { name, state, lastState, restartCount } of containersOf(pod)) {
    const ended = state?.terminated ?? lastState?.terminated;
    const isLooping = state?.waiting?.reason === "CrashLoopBackOff";
    if (!ended || ended.exitCode === 0 || (!isLooping && !state?.terminated) || restartCount === undefined) continue;
    const words = ended.message ? `: ${ended.message.trim().slice(0, 200)}` : "";
    const how = ended.reason === "OOMKilled" ? "ran out of memory" : `exits with code ${ended.exitCode}`;
    return { reason: "ServerCrashes", message: `the container ${name} ${how}${words}` };
  }
  return undefined;
}

function placement(pod: Pod, { gpuType, offered, now }: Replicas): Problem | undefined {
  const scheduled = pod.status?.conditions?.find(({ type }) => type === "PodScheduled");
  if (scheduled?.status !== "False" || scheduled.reason !== "Unschedulable") return undefined;
  const { message = "" } = scheduled;
  const claim = /persistentvolumeclaim "([^"]+)" not found/.exec(message)?.[1];
  if (claim) return { reason: "ClaimMissing", message: `there is no PersistentVolumeClaim ${claim} in this namespace` };
  if (gpuType && !offered.some((product) => isOfType(product, gpuType))) {
    const known = offered.length > 0 ? `there are ${offered.join(", ")}` : "no node has GPUs that are labelled";
    return { reason: "UnknownGpuType", message: `no node has GPUs of the type ${gpuType}: ${known}` };
  }
  if (now - Date.parse(scheduled.lastTransitionTime ?? "") < PATIENCE) return undefined;
  return { reason: "NoRoom", message: `a replica finds no node: ${message}` };
}

/** Without the waiting time that a kubelet adds, which changes from look to look. */
function steady(message: string): string {
  return message.replace(/^Back-off pulling image "[^"]*":? ?/, "");
}

function first(pods: readonly Pod[], find: (pod: Pod) => Problem | undefined): Problem | undefined {
  for (const pod of pods) {
    const found = find(pod);
    if (found) return found;
  }
  return undefined;
}
