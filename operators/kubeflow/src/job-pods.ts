import type { ObservedChild } from "konverge";
import type { Pod } from "konverge/kinds";
import type { Job, Replica } from "./job.ts";
import type { ReplicaStatus } from "./job-fields.ts";
import { JOB_NAME, OPERATOR_NAME, REPLICA_INDEX, REPLICA_TYPE } from "./names.ts";

/** A pod of a job, and which one it is. */
export interface JobPod<P extends Pod = Pod> {
  readonly pod: P;
  /** In lower case, as the label has it. */
  readonly type: string;
  readonly index: number;
  /** Of the framework's container; undefined as long as it has not ended. */
  readonly exitCode: number | undefined;
}

/** A pod that is a child of its job. */
export type OwnPod = JobPod<ObservedChild<Pod>>;

/** How many pods of a type run, are done, have failed. */
export interface ReplicaCount {
  readonly active: number;
  readonly succeeded: number;
  readonly failed: number;
}

/** What identifies pods of a framework: the container that trains, and the label of the operator. */
export interface PodMarks {
  readonly container: string;
  readonly controller: string;
}

/** Reads a pod that was made for a job; undefined if it lacks the labels that say which one it is. */
export function jobPod<P extends Pod>(pod: P, framework: PodMarks): JobPod<P> | undefined {
  const { container, controller } = framework;
  const { [REPLICA_TYPE]: type, [REPLICA_INDEX]: number, [OPERATOR_NAME]: maker } = pod.metadata.labels ?? {};
  const index = Number(number);
  if (!type || number === undefined || !Number.isInteger(index) || index < 0 || maker !== controller) return undefined;
  const ended = pod.status?.containerStatuses?.find(({ name }) => name === container)?.state?.terminated;
  return { pod, type, index, exitCode: ended?.exitCode };
}

export const isLeaving = ({ pod }: JobPod) => pod.metadata.deletionTimestamp !== undefined;
export const phaseOf = ({ pod }: JobPod) => pod.status?.phase;

/** Neither done nor failed nor on its way out. */
export function isActive(one: JobPod): boolean {
  return phaseOf(one) !== "Succeeded" && phaseOf(one) !== "Failed" && !isLeaving(one);
}

/** The desired pods of a type, in the order of their numbers. */
export function membersOf(pods: readonly JobPod[], { type, count }: Replica): JobPod[] {
  const isMember = (one: JobPod) => one.type === type.toLowerCase() && one.index < count;
  return pods.filter(isMember).sort((a, b) => a.index - b.index);
}

/** A running pod that is being deleted cannot succeed any more: it counts as failed. */
export function countOf(pods: readonly JobPod[]): ReplicaCount {
  const count = (is: (one: JobPod) => boolean) => pods.filter(is).length;
  return {
    active: count((one) => phaseOf(one) === "Running" && !isLeaving(one)),
    succeeded: count((one) => phaseOf(one) === "Succeeded"),
    failed: count((one) => phaseOf(one) === "Failed" || (phaseOf(one) === "Running" && isLeaving(one))),
  };
}

/** A count as the status has it: what is nought is left out. */
export function replicaStatus(
  { active, succeeded, failed }: ReplicaCount,
  job: Job,
  { type }: Replica,
  framework: Pick<PodMarks, "controller"> & { readonly selectors?: boolean },
): ReplicaStatus {
  return {
    ...(active > 0 && { active }),
    ...(succeeded > 0 && { succeeded }),
    ...(failed > 0 && { failed }),
    ...(framework.selectors && { selector: selectorOf(job, type, framework) }),
  };
}

function selectorOf({ name }: Job, type: string, { controller }: Pick<PodMarks, "controller">): string {
  const labels = { [JOB_NAME]: name, [OPERATOR_NAME]: controller, [REPLICA_TYPE]: type.toLowerCase() };
  return Object.entries(labels)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${value}`)
    .join(",");
}
