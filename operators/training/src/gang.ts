import { finishedWorkers } from "./finished-workers.ts";
import { podName } from "./names.ts";
import { overdueAt, type PodState } from "./pod-state.ts";
import type { TrainingJob } from "./training-job.ts";
import type { FinishedWorker } from "./training-job-status.ts";
import type { Member } from "./worker-environment.ts";

/** The pods of a job, sorted by what is to be done with them. */
export interface Gang {
  /** All pods that train together. */
  readonly wanted: readonly Member[];
  /** Those of them that are there, whatever their state. */
  readonly current: readonly PodState[];
  /** Those of them that have succeeded, whether their pods are still there or not. */
  readonly finished: readonly FinishedWorker[];
  /** Those that are not there and have not finished. */
  readonly missing: readonly Member[];
  /** Pods to delete: of earlier gangs, beyond the wanted number, or failed and to be replaced. */
  readonly obsolete: readonly PodState[];
  /** Pods on their way out. */
  readonly leaving: readonly PodState[];
  /** Pods of this gang that were made for another spec. */
  readonly outdated: readonly PodState[];
}

/** Sorts the pods of a job; `hash` is the name of what it asks for now. */
export function gangOf(job: TrainingJob, pods: readonly PodState[], hash: string): Gang {
  const attempt = job.status?.attempt ?? 0;
  const wanted = membersOf(job, attempt);
  const isWanted = ({ role, index }: PodState) => wanted.some((one) => one.role === role && one.index === index);
  const leaving = pods.filter(({ state }) => state === "Terminating");
  const staying = pods.filter(({ state }) => state !== "Terminating");
  const outdated = staying.filter((one) => one.attempt === attempt && one.specHash !== hash);
  const obsolete = staying.filter(
    (one) => one.attempt !== attempt || (!isWanted(one) && one.specHash === hash) || isReplaced(job, one),
  );
  const current = staying.filter((one) => !obsolete.includes(one) && !outdated.includes(one));
  const ended = leaving.filter((one) => one.attempt === attempt && one.specHash === hash);
  const finished = finishedWorkers(job, [...current, ...ended]);
  const hasFinished = ({ role, index }: Member) => role === "worker" && finished.some((one) => one.workerId === index);
  const isCurrent = ({ role, index }: Member) => current.some((one) => one.role === role && one.index === index);
  const missing = wanted.filter((one) => !isCurrent(one) && !hasFinished(one));
  return { wanted, current, finished, missing, obsolete, leaving, outdated };
}

/** In an elastic job, a worker whose failure has been counted makes room for its successor. */
function isReplaced({ spec, status }: TrainingJob, { pod, state }: PodState): boolean {
  return spec.elastic !== undefined && state === "Failed" && pod.metadata.uid === status?.failure?.podUid;
}

function membersOf({ spec }: TrainingJob, attempt: number): Member[] {
  const members = (role: Member["role"], count: number) =>
    Array.from({ length: count }, (_, index) => ({ role, index, attempt }));
  return [...members("worker", spec.workers), ...members("ps", spec.parameterServers?.count ?? 0)];
}

/**
 * The members that can be created now: a whole gang only when no pod of the previous one remains. Pods that should have
 * terminated long ago do not count: their node does not respond.
 */
export function creatable(job: TrainingJob, gang: Gang, now: number): readonly Member[] {
  const attempt = job.status?.attempt ?? 0;
  const awaited = [...gang.obsolete, ...gang.leaving.filter((one) => overdueAt(one) > now)];
  if (awaited.some((one) => one.attempt !== attempt)) return [];
  const taken = new Set(awaited.map(({ pod }) => pod.metadata.name));
  return gang.missing.filter(({ role, index }) => !taken.has(podName(job, role, index)));
}

/** When pods that are being deleted are no longer waited for, in milliseconds since 1970. */
export function waitEnds({ missing, leaving }: Gang, now: number): number {
  const waits = leaving.map(overdueAt).filter((time) => time > now);
  return missing.length > 0 ? Math.max(...waits) : Number.NEGATIVE_INFINITY;
}
