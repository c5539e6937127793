import { type KubeObject, readinessOf } from "konverge";
import type { Deployment, Pod } from "konverge/kinds";

/** Why a component is not ready yet, in one of the words that the graph's condition knows. */
export interface Delay {
  readonly reason: "insufficient_capacity" | "updating" | "pods_not_ready" | "failed";
  readonly message: string;
}

/**
 * What a component still waits for, judged on its newest revision: pods of an older one do not count, however well they do.
 * Undefined: it is ready.
 */
export function delayOf(live: KubeObject | undefined, pods: readonly Pod[], now: number): Delay | undefined {
  if (!live) return { reason: "updating", message: "it is being created" };
  const { status, message } = readinessOf(live, now);
  if (status === "Current") return undefined;
  const stuck = pods.map(unschedulable).find((told) => told !== undefined);
  if (stuck) return { reason: "insufficient_capacity", message: stuck };
  const waiting = pods.map(waitingFor).find((told) => told !== undefined);
  if (status === "Failed") return { reason: "failed", message: waiting ?? message };
  if (waiting) return { reason: "pods_not_ready", message: waiting };
  const { spec, status: reported } = live as Deployment;
  const updated = reported?.updatedReplicas ?? 0;
  const wanted = spec?.replicas ?? 1;
  return updated < wanted
    ? { reason: "updating", message: `${updated} of ${wanted} replicas are up to date` }
    : { reason: "pods_not_ready", message };
}

function unschedulable({ metadata, status }: Pod): string | undefined {
  const scheduled = status?.conditions?.find(({ type }) => type === "PodScheduled");
  if (scheduled?.status !== "False" || scheduled.reason !== "Unschedulable") return undefined;
  return `pod ${metadata.name}: ${scheduled.message}`;
}

/** What keeps a container from running, without the parts that change from look to look. */
function waitingFor({ metadata, status }: Pod): string | undefined {
  for (const { name, state } of status?.containerStatuses ?? []) {
    const { reason = "" } = state?.waiting ?? {};
    if (/ErrImage|ImagePull|InvalidImage|CrashLoop|CreateContainer|RunContainer/.test(reason)) {
      return `pod ${metadata.name}: container ${name}: ${reason}`;
    }
  }
  return undefined;
}
