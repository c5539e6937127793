import { Counter, type Registry } from "prom-client";
import { FirstOccurrences } from "./first-occurrences.ts";
import type { JobPod } from "./job-pods.ts";

/** The identity of a job in the metrics. */
export interface Counted {
  readonly uid: string;
  readonly namespace: string;
  readonly framework: string;
}

/** The operator's metrics, under upstream's names. Each event is counted once, even if it is observed in many reconciles. */
export class JobMetrics {
  readonly #occurrences = new FirstOccurrences();
  readonly #jobs: Readonly<Record<"created" | "deleted" | "successful" | "failed" | "restarted", Counter>>;
  readonly #pods: Readonly<Record<"created" | "deleted" | "failed", Counter>>;
  readonly #services: Counter;
  readonly #groups: Readonly<Record<"created" | "deleted", Counter>>;

  constructor(registry: Registry) {
    const registers = [registry];
    const labelNames = ["job_namespace", "framework"];
    const jobs = (what: string) =>
      new Counter({ name: `training_operator_jobs_${what}_total`, help: `Jobs ${what}`, labelNames, registers });
    const plain = (name: string, help: string) => new Counter({ name, help, registers });
    this.#jobs = {
      created: jobs("created"),
      deleted: jobs("deleted"),
      successful: jobs("successful"),
      failed: jobs("failed"),
      restarted: jobs("restarted"),
    };
    this.#pods = {
      created: plain("created_pods_total", "Number of pods created for jobs"),
      deleted: plain("deleted_pods_total", "Number of deleted pods of jobs"),
      failed: plain("failed_pods_total", "Number of failed pods of jobs"),
    };
    this.#services = plain("succeeded_service_creation_total", "Number of Services created for jobs");
    this.#groups = {
      created: plain("created_pod_groups_total", "Number of PodGroups created for jobs"),
      deleted: plain("deleted_pod_groups_total", "Number of deleted PodGroups of jobs"),
    };
  }

  job(what: "created" | "deleted" | "successful" | "failed", job: Counted): void {
    if (this.#occurrences.first(`${what} ${job.uid}`)) this.#jobs[what].inc(labelsOf(job));
  }

  /** Pods of a job have failed and are recreated: one restart of the job, however many they are. */
  restarted(job: Counted, pods: readonly JobPod[]): void {
    const fresh = pods.filter(({ pod }) => this.#occurrences.first(`restarted ${pod.metadata.uid}`));
    if (fresh.length > 0) this.#jobs.restarted.inc(labelsOf(job));
  }

  podFailed(uid: string): void {
    if (this.#occurrences.first(`failed ${uid}`)) this.#pods.failed.inc();
  }

  podCreated(): void {
    this.#pods.created.inc();
  }

  podDeleted(): void {
    this.#pods.deleted.inc();
  }

  serviceCreated(): void {
    this.#services.inc();
  }

  group(what: "created" | "deleted"): void {
    this.#groups[what].inc();
  }
}

function labelsOf({ namespace, framework }: Counted) {
  return { job_namespace: namespace, framework };
}
