import { isNotFound, type KindRef, type KubeObject, keyOf, ownerReference } from "@konverge/core";
import { Pod, type PodTemplateSpec } from "@konverge/kinds";
import type { ReconcileContext } from "@konverge/runtime";

/** The longest name that leaves room for the five letters of a generated one. */
const LONGEST_PREFIX = 58;

/** A pod from an object's template. */
export function podFromTemplate(ownerKind: KindRef<KubeObject>, owner: KubeObject, template: PodTemplateSpec) {
  const { labels, annotations, finalizers } = template.metadata ?? {};
  return {
    metadata: {
      generateName: `${owner.metadata.name.slice(0, LONGEST_PREFIX - 1)}-`,
      namespace: owner.metadata.namespace!,
      ...(labels && { labels: { ...labels } }),
      ...(annotations && { annotations: { ...annotations } }),
      ...(finalizers && { finalizers: [...finalizers] }),
      ownerReferences: [ownerReference(ownerKind, owner)],
    },
    spec: template.spec!,
  };
}

/** Creates a pod, and records an event about it on the owner. */
export async function createPod(
  { client, events }: ReconcileContext,
  pod: ReturnType<typeof podFromTemplate>,
): Promise<Pod> {
  try {
    // Direct writes: pods are created and deleted in the batches and with the events of Kubernetes' own controllers.
    const created = await client.create(Pod, pod);
    events.normal("SuccessfulCreate", `Created pod: ${created.metadata.name}`);
    return created;
  } catch (error) {
    events.warning("FailedCreate", `Error creating: ${messageOf(error)}`);
    throw error;
  }
}

/** Deletes a pod, and records an event about it on the owner; none if the pod does not exist. */
export async function deletePod({ client, events }: ReconcileContext, pod: Pod): Promise<void> {
  try {
    await client.delete(Pod, keyOf(pod), { preconditions: { uid: pod.metadata.uid! } });
    events.normal("SuccessfulDelete", `Deleted pod: ${pod.metadata.name}`);
  } catch (error) {
    if (isNotFound(error)) return;
    events.warning("FailedDelete", `Error deleting: ${messageOf(error)}`);
    throw error;
  }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * Runs a task `count` times, in batches of 1, 2, 4 …: no batch starts after a failure. Returns how many succeeded, and the
 * first error.
 */
export async function slowStart(
  count: number,
  task: (i: number) => Promise<unknown>,
): Promise<{ done: number; error?: unknown }> {
  let done = 0;
  for (let batch = 1; done < count; batch *= 2) {
    const size = Math.min(batch, count - done);
    const results = await Promise.allSettled(Array.from({ length: size }, (_, i) => task(done + i)));
    const failed = results.find((result) => result.status === "rejected");
    done += results.filter(({ status }) => status === "fulfilled").length;
    if (failed) return { done, error: failed.reason };
  }
  return { done };
}
