import type { Client } from "@konverge/client";
import { ApiError, type Condition, isForbidden, isInvalid, type KubeObject } from "@konverge/core";
import { Event } from "@konverge/kinds";
import type { WorkloadProblem } from "./problem.ts";

/** Why the pods of a Deployment or a ReplicaSet cannot be created; undefined if they can. */
export function replicaFailureMessage(workload: KubeObject | undefined): string | undefined {
  const { status } = (workload ?? {}) as { status?: { conditions?: readonly Condition[] } };
  return status?.conditions?.find(({ type, status: is }) => type === "ReplicaFailure" && is === "True")?.message;
}

/**
 * Why the pods of a workload cannot be created, for workloads that report it only in events: a StatefulSet, a Job. Call
 * it only while pods are missing, because events outlive their cause. It lists Events: declare `permission(Event,
 * ["list"])`.
 */
export async function failedCreateMessage(client: Client, workload: KubeObject): Promise<string | undefined> {
  const { name, namespace } = workload.metadata;
  const { items } = await client.list(Event, {
    namespace,
    fieldSelector: `involvedObject.kind=${workload.kind},involvedObject.name=${name},reason=FailedCreate`,
  });
  return items.toSorted((a, b) => ((a.lastTimestamp ?? "") < (b.lastTimestamp ?? "") ? 1 : -1))[0]?.message;
}

/** What a refusal means. */
export function refused(message: string): WorkloadProblem {
  if (/exceeded quota/.test(message))
    return { reason: "QuotaExceeded", message: `no more pods can be created: ${message}` };
  return { reason: "PodsRefused", message: `the API server rejects the pods: ${message}` };
}

/**
 * The problem behind an error of creating a pod, if a user can fix it: a quota, a policy, an invalid pod. Undefined for any other
 * error, such as a missing permission of the operator. `what` names the pod in the message.
 */
export function podCreationProblem(error: unknown, what: string): WorkloadProblem | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const message = `${what} cannot be created: ${error.message}`;
  if (isForbidden(error) && /exceeded quota|must specify/.test(error.message))
    return { reason: "QuotaExceeded", message };
  if (isForbidden(error) && !/cannot create resource/.test(error.message)) return { reason: "PodForbidden", message };
  return isInvalid(error) || error.code === 400 ? { reason: "PodInvalid", message } : undefined;
}
