import type { Child, KindRef, KubeObject } from "konverge";
import type { PodTemplateSpec } from "konverge/kinds";
import type { Job, JobObject, Replica } from "./job.ts";
import type { ReplicaSpec, RestartPolicy } from "./job-fields.ts";
import type { JobPod, ReplicaCount } from "./job-pods.ts";
import type { JobReport } from "./job-report.ts";

/** What {@link Framework.judge} decides on. */
export interface Evidence {
  readonly counts: ReadonlyMap<string, ReplicaCount>;
  readonly pods: readonly JobPod[];
}

/** One of a job's pods to be. */
export interface Member {
  readonly replica: Replica;
  readonly index: number;
}

/** All that distinguishes the kinds of jobs from each other. */
export interface Framework<T extends JobObject = JobObject> {
  readonly kind: KindRef<T>;
  /** As metrics call it: `pytorch`. */
  readonly name: string;
  /** The value of the label that says who made a pod. */
  readonly controller: string;
  /** Replica types, in the order in which they are evaluated. */
  readonly types: readonly string[];
  /** The container that trains. */
  readonly container: string;
  readonly port: { readonly name: string; readonly number: number };
  /** Default of the replicas' restart policy. */
  readonly restartPolicy: RestartPolicy;
  replicaSpecs(object: T): Readonly<Record<string, ReplicaSpec>>;
  /** Where the replicas are: `spec.pytorchReplicaSpecs`. */
  readonly replicaSpecsPath: string;
  /** Whether the pod gets the label of a job's master. */
  isMaster(job: Job<T>, member: Member): boolean;
  /** The template of one pod, with all that it needs to find the others. */
  complete(job: Job<T>, member: Member): PodTemplateSpec;
  /** Sets the state of the job in the report. */
  judge(job: Job<T>, evidence: Evidence, report: JobReport): void;
  /** Whether replica statuses name the selector of their pods, for autoscalers. */
  readonly selectors?: boolean;
  /** Children besides pods and Services, while the job is not suspended. */
  readonly others?: {
    readonly kinds: readonly KindRef<KubeObject>[];
    for(job: Job<T>): readonly Child[];
  };
}
