import type { ObjectKey } from "konverge";
import { splitKey } from "konverge/objects";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { OncePerObject } from "./once-per-object.ts";
import type { TrainingJob } from "./training-job.ts";
import type { TrainingJobStatus } from "./training-job-status.ts";

const PHASES = ["Pending", "Running", "Succeeded", "Failed"] as const;
type Phase = (typeof PHASES)[number];

const MINUTE = 60;
const HOUR = 60 * MINUTE;
/** From a smoke test to a month of pre-training. */
const DURATIONS = [
  MINUTE,
  5 * MINUTE,
  15 * MINUTE,
  HOUR,
  4 * HOUR,
  12 * HOUR,
  24 * HOUR,
  72 * HOUR,
  168 * HOUR,
  720 * HOUR,
];

/** The operator's metrics, kept in the registry that it was given. */
export class TrainingMetrics {
  readonly #created: Counter;
  readonly #duration: Histogram;
  readonly #restarts: Counter;
  readonly #failures: Counter;
  readonly #jobs: Gauge;
  readonly #progress: Gauge;
  readonly #stragglers: Gauge;
  readonly #phases = new Map<ObjectKey, Phase>();
  readonly #isNew = new OncePerObject();
  readonly #isEnding = new OncePerObject();

  constructor(registry: Registry) {
    const registers = [registry];
    this.#created = new Counter({
      name: "training_jobs_created_total",
      help: "Total number of training jobs created",
      registers,
    });
    this.#duration = new Histogram({
      name: "training_job_duration_seconds",
      help: "Training job duration in seconds",
      buckets: DURATIONS,
      registers,
    });
    this.#restarts = new Counter({
      name: "training_job_restarts_total",
      help: "Number of restarts of whole gangs, by cause",
      labelNames: ["cause"],
      registers,
    });
    this.#failures = new Counter({
      name: "training_jobs_failed_total",
      help: "Number of failed training jobs, by the reason of their Failed condition",
      labelNames: ["reason"],
      registers,
    });
    this.#jobs = new Gauge({
      name: "training_jobs",
      help: "Number of training jobs, by phase",
      labelNames: ["phase"],
      registers,
    });
    const job = ["namespace", "name"];
    this.#progress = new Gauge({
      name: "training_job_progress_ratio",
      help: "Progress of a training job, from 0 to 1, as its workers report it",
      labelNames: job,
      registers,
    });
    this.#stragglers = new Gauge({
      name: "training_job_stragglers",
      help: "Number of workers of a training job that are far behind the others",
      labelNames: job,
      registers,
    });
    this.#countPhases();
  }

  /** Counts a job without a status as created. */
  created({ metadata, status }: TrainingJob): void {
    if (status?.phase) this.#isNew.forget(metadata.uid!);
    else if (this.#isNew.first(metadata.uid!)) this.#created.inc();
  }

  restarted(cause: string): void {
    this.#restarts.inc({ cause });
  }

  /** A job ends. Its duration is that from its start, or from its creation if it never came so far. */
  ended({ metadata }: TrainingJob, status: TrainingJobStatus, reason: string): void {
    if (!this.#isEnding.first(metadata.uid!)) return;
    const start = status.startTime ?? metadata.creationTimestamp;
    if (start && status.completionTime) {
      this.#duration.observe(Math.max(0, (Date.parse(status.completionTime) - Date.parse(start)) / 1000));
    }
    if (status.phase === "Failed") this.#failures.inc({ reason });
  }

  /** Updates the metrics of a job from its status. */
  observe(key: ObjectKey, { metadata }: TrainingJob, { phase, progress, stragglers }: TrainingJobStatus): void {
    if (phase === "Succeeded" || phase === "Failed") this.#isEnding.forget(metadata.uid!);
    if (phase && this.#phases.get(key) !== phase) {
      this.#phases.set(key, phase);
      this.#countPhases();
    }
    const labels = labelsOf(key);
    if (progress?.totalSteps) this.#progress.set(labels, Math.min(1, progress.step / progress.totalSteps));
    if (progress) this.#stragglers.set(labels, stragglers?.length ?? 0);
  }

  /** The job is deleted. */
  forget(key: ObjectKey, { metadata }: TrainingJob): void {
    this.#isNew.forget(metadata.uid!);
    this.#isEnding.forget(metadata.uid!);
    this.#progress.remove(labelsOf(key));
    this.#stragglers.remove(labelsOf(key));
    if (this.#phases.delete(key)) this.#countPhases();
  }

  #countPhases(): void {
    const all = [...this.#phases.values()];
    for (const phase of PHASES) this.#jobs.set({ phase }, all.filter((one) => one === phase).length);
  }
}

function labelsOf(key: ObjectKey): { namespace: string; name: string } {
  const { namespace = "", name } = splitKey(key);
  return { namespace, name };
}
