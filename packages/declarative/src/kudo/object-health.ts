/** Whether an object has reached what its task waits for. Pure. */
import { type Condition, deepEqual, type KubeObject, readinessOf } from "@konverge/core";
import type { Job } from "@konverge/kinds";
import type { Instance } from "./kudo-kinds.ts";
import { isTerminal } from "./plan-status.ts";

/** `failed`: it will not become healthy any more. */
export type ObjectHealth = { readonly state: "healthy" | "waiting" | "failed"; readonly message: string };

export function healthOf(object: KubeObject, now: number): ObjectHealth {
  if (object.kind === "Job" && object.apiVersion.startsWith("batch/")) return healthOfJob(object as Job);
  if (object.kind === "Instance" && object.apiVersion.startsWith("kudo.dev/"))
    return healthOfInstance(object as Instance);
  const { status, message } = readinessOf(object, now);
  const what = `${object.kind} "${object.metadata.name}"`;
  if (status === "Current") return { state: "healthy", message: `${what} is healthy` };
  return { state: "waiting", message: `${what} is not healthy: ${message}` };
}

function healthOfJob({ metadata: { name }, status }: Job): ObjectHealth {
  const failed = ((status?.conditions ?? []) as Condition[]).find(
    (one) => one.type === "Failed" && one.status === "True",
  );
  if (failed) return { state: "failed", message: `job "${name}" has failed terminally: ${failed.message}` };
  const isDone = ((status?.conditions ?? []) as Condition[]).some(
    (one) => one.type === "Complete" && one.status === "True",
  );
  return isDone || status?.succeeded === 1
    ? { state: "healthy", message: `job "${name}" is marked healthy` }
    : { state: "waiting", message: `job "${name}" still running or failed` };
}

/** No plan runs or is due, and the last one has not failed. */
function healthOfInstance({ metadata: { namespace, name }, spec, status }: Instance): ObjectHealth {
  const what = `instance ${namespace}/${name}`;
  const { planName, status: running } = spec?.planExecution ?? {};
  const isScheduled = status?.scheduled !== undefined;
  const isCurrent = deepEqual(status?.scheduled?.parameters ?? {}, spec?.parameters ?? {});
  if (planName && !isTerminal(running)) return { state: "waiting", message: `${what} runs the plan ${planName}` };
  if (!isScheduled || !isCurrent) return { state: "waiting", message: `${what} has a plan to run` };
  const failed = Object.values(status?.planStatus ?? {}).find((plan) => plan.status === "FATAL_ERROR");
  if (failed && failed.uid === status?.scheduled?.uid) {
    return { state: "waiting", message: `the plan ${failed.name} of ${what} has failed` };
  }
  return { state: "healthy", message: `${what} is marked healthy` };
}
