import type { KubeObject } from "konverge";
import type { PodTemplateSpec } from "konverge/kinds";
import type { JobStatus, RestartPolicy, RunPolicy } from "./job-fields.ts";

/** What the objects of all four kinds have in common. */
export interface JobObject extends KubeObject {
  spec: { runPolicy?: RunPolicy };
  status?: JobStatus;
}

/** The pods of one type of a job, with what users may leave out filled in. */
export interface Replica {
  /** As upstream writes it: `Worker`. */
  readonly type: string;
  readonly count: number;
  readonly restartPolicy: RestartPolicy;
  readonly template: PodTemplateSpec;
}

/** A job as the operator sees it, whichever framework it is for. */
export interface Job<T extends JobObject = JobObject> {
  readonly object: T;
  readonly name: string;
  readonly namespace: string;
  /** In the order of the framework's types, others after them. */
  readonly replicas: readonly Replica[];
  readonly runPolicy: Partial<RunPolicy>;
  readonly status: JobStatus;
}

export function replicaOf({ replicas }: Job, type: string): Replica | undefined {
  return replicas.find((replica) => replica.type === type);
}

/** How many pods a job has in all. */
export function sizeOf({ replicas }: Job): number {
  return replicas.reduce((sum, { count }) => sum + count, 0);
}
