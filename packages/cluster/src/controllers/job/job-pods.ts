import { isNotFound, keyOf } from "@konverge/core";
import { type Container, Job, Pod, type PodTemplateSpec } from "@konverge/kinds";
import type { ReconcileContext } from "@konverge/runtime";
import { inDeletionOrder } from "../workloads/deletion-order.ts";
import { createPod, deletePod, podFromTemplate, slowStart } from "../workloads/pod-control.ts";
import {
  COMPLETION_INDEX,
  FAILURE_COUNT,
  failuresBefore,
  IGNORED_FAILURE_COUNT,
  ignoredFailuresBefore,
  indexOf,
} from "./indexes.ts";
import { defaultedSpec, jobLabels, TRACKING } from "./job-state.ts";
import { judgeFailure } from "./policies.ts";

/** Creates `count` pods for a Job, or one for each index. Returns how many, and the error that stopped it. */
export async function createJobPods(
  context: ReconcileContext,
  job: Job,
  wanted: { count: number; indexes?: readonly number[]; replaced: ReadonlyMap<number, Pod> },
): Promise<{ done: number; error?: unknown }> {
  const { indexes } = wanted;
  return slowStart(indexes?.length ?? wanted.count, (i) => {
    const index = indexes?.[i];
    return createPod(context, jobPod(job, index, index === undefined ? undefined : wanted.replaced.get(index)));
  });
}

function jobPod(job: Job, index: number | undefined, replaced: Pod | undefined) {
  const { template } = job.spec!;
  const metadata = template.metadata ?? {};
  const finalizers = [...new Set([...(metadata.finalizers ?? []), TRACKING])];
  const labels = { ...metadata.labels, ...(job.spec?.manualSelector ? {} : jobLabels(job)) };
  if (index === undefined) {
    return podFromTemplate(Job, job, { ...template, metadata: { ...metadata, finalizers, labels } });
  }
  const annotations: Record<string, string> = { ...metadata.annotations, [COMPLETION_INDEX]: String(index) };
  if (job.spec?.backoffLimitPerIndex !== undefined) Object.assign(annotations, failureCounts(job, replaced));
  const indexed: PodTemplateSpec = {
    metadata: { ...metadata, finalizers, annotations, labels: { ...labels, [COMPLETION_INDEX]: String(index) } },
    spec: {
      ...template.spec!,
      hostname: `${job.metadata.name}-${index}`,
      containers: template.spec!.containers.map(withIndexVariable),
      ...(template.spec!.initContainers && { initContainers: template.spec!.initContainers.map(withIndexVariable) }),
    },
  };
  const pod = podFromTemplate(Job, job, indexed);
  const suffix = `-${index}-`;
  pod.metadata.generateName = `${job.metadata.name.slice(0, 58 - suffix.length)}${suffix}`;
  return pod;
}

function failureCounts(job: Job, replaced: Pod | undefined): Record<string, string> {
  if (!replaced) return { [FAILURE_COUNT]: "0" };
  const { counts } = judgeFailure(job.spec?.podFailurePolicy, replaced);
  const ignored = ignoredFailuresBefore(replaced) + (counts ? 0 : 1);
  return {
    [FAILURE_COUNT]: String(failuresBefore(replaced) + (counts ? 1 : 0)),
    ...(ignored > 0 && { [IGNORED_FAILURE_COUNT]: String(ignored) }),
  };
}

function withIndexVariable(container: Container): Container {
  const name = "JOB_COMPLETION_INDEX";
  if (container.env?.some((variable) => variable.name === name)) return container;
  const fieldPath = `metadata.labels['${COMPLETION_INDEX}']`;
  return { ...container, env: [...(container.env ?? []), { name, valueFrom: { fieldRef: { fieldPath } } }] };
}

/** The active pods to delete: at least those with an index that is out of range or has another pod, and `least` in total. */
export function podsToRemove(context: ReconcileContext, job: Job, active: readonly Pod[], least: number): Pod[] {
  const order = (pods: readonly Pod[]) => inDeletionOrder(pods, pods, context.clock);
  const { isIndexed, completions = 0 } = defaultedSpec(job);
  if (!isIndexed) return order(active).slice(0, least);
  const removed: Pod[] = [];
  const kept: Pod[] = [];
  for (const [index, pods] of Map.groupBy(active, indexOf)) {
    if (index === undefined || index >= completions) removed.push(...pods);
    else {
      const sorted = order(pods);
      kept.push(sorted.pop()!);
      removed.push(...sorted);
    }
  }
  const more = least - removed.length;
  return more > 0 ? [...removed, ...order(kept).slice(0, more)] : removed;
}

/** Deletes pods; returns those that were. */
export async function deleteJobPods(
  context: ReconcileContext,
  pods: readonly Pod[],
): Promise<{ deleted: Pod[]; error?: unknown }> {
  const results = await Promise.allSettled(pods.map((pod) => deletePod(context, pod)));
  const deleted = pods.filter((_, i) => results[i]!.status === "fulfilled");
  const failed = results.find((result) => result.status === "rejected");
  return { deleted, ...(failed && { error: failed.reason }) };
}

/** Removes the tracking finalizer from pods that have been counted. Returns the uids of those that no longer have it. */
export async function releasePods(
  { client }: Pick<ReconcileContext, "client">,
  pods: readonly Pod[],
): Promise<Set<string>> {
  const released = new Set<string>();
  for (const pod of pods) {
    const { uid, finalizers = [] } = pod.metadata;
    const rest = finalizers.filter((finalizer) => finalizer !== TRACKING);
    const patch = { metadata: { uid, finalizers: rest.length > 0 ? rest : null } };
    try {
      // Direct write: a finalizer holds each pod until it is counted in the stored status.
      await client.patch(Pod, keyOf(pod), { merge: patch });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    released.add(uid!);
  }
  return released;
}
