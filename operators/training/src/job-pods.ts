import { type ChildrenOutcome, type ObservedChild, plannedChild, type ReconcileContext } from "konverge";
import { ConfigMap, Pod } from "konverge/kinds";
import { type Hyperparameters, hyperparametersConfigMap } from "./hyperparameters.ts";
import { hyperparametersName, labelsOf } from "./names.ts";
import { type PodState, podState } from "./pod-state.ts";
import type { TrainingJob } from "./training-job.ts";
import { serviceFor } from "./worker-service.ts";

/** A pod of a job, which it can keep by returning it. */
export type OwnPod = PodState<ObservedChild<Pod>>;

/** All pods of a job with their labels, in the order of their names. */
export function podsOf({ observed }: ReconcileContext): OwnPod[] {
  return observed.all(Pod).flatMap((pod) => podState(pod) ?? []);
}

/** The pods as they are after what a reconcile has created and deleted. */
export function podsAfter(pods: readonly PodState[], { created, deleted }: ChildrenOutcome): PodState[] {
  const isDeleted = ({ pod }: PodState) => deleted.some(({ metadata }) => metadata.uid === pod.metadata.uid);
  const added = created.flatMap((one) => (one.kind === "Pod" ? (podState(one as Pod) ?? []) : []));
  const before = pods.map((one) => (isDeleted(one) ? { ...one, state: "Terminating" as const } : one));
  return [...before, ...added].sort((a, b) => (a.pod.metadata.name < b.pod.metadata.name ? -1 : 1));
}

/** Pods as children that stay: how they are doing is reported by the operator itself. */
export function keptPods(pods: readonly OwnPod[]) {
  const staying = pods.filter(({ state }) => state !== "Terminating");
  return staying.map(({ pod }) => plannedChild(pod, { readyWhen: () => true }));
}

/**
 * What pods use: the Service by which they find each other, and the ConfigMap that they mount, which stays as it is while its
 * source is unknown.
 */
export function supportOf(job: TrainingJob, hyperparameters: Hyperparameters | undefined, context: ReconcileContext) {
  const configMap = hyperparameters ? hyperparametersConfigMap(job, hyperparameters) : presentConfigMap(job, context);
  return [serviceFor(job), ...(configMap ? [configMap] : [])];
}

function presentConfigMap(job: TrainingJob, { observed }: ReconcileContext) {
  const name = hyperparametersName(job);
  const data = observed(ConfigMap, name)?.data;
  return (
    data && ConfigMap.draft({ metadata: { name, namespace: job.metadata.namespace, labels: labelsOf(job) }, data })
  );
}
