import type { ReconcileResult } from "konverge";
import type { GangScheduler } from "./gang-scheduler.ts";
import type { TrainingJob } from "./training-job.ts";
import type { TrainingMetrics } from "./training-metrics.ts";
import type { LogReader } from "./worker-logs.ts";

/** What one process of the operator keeps for all jobs. Nothing in it is needed again after a crash. */
export interface Tools {
  readonly metrics: TrainingMetrics;
  /** The schedulers whose PodGroups may be used, the first that the cluster knows. */
  readonly schedulers: readonly GangScheduler[];
  readonly logs: LogReader;
}

export type TrainingResult = ReconcileResult<TrainingJob>;
