import type { FirstOccurrences } from "./first-occurrences.ts";
import type { Framework } from "./framework.ts";
import type { GangScheduler } from "./gang-scheduler.ts";
import type { Job, JobObject } from "./job.ts";
import type { JobRules } from "./job-admission.ts";
import type { Counted, JobMetrics } from "./job-metrics.ts";

/** What one process of the operator keeps for all jobs of a kind. Nothing in it is needed again after a crash. */
export interface Tools<T extends JobObject> {
  readonly framework: Framework<T>;
  readonly rules: JobRules<T>;
  readonly gang: GangScheduler | undefined;
  readonly metrics: JobMetrics;
  readonly occurrences: FirstOccurrences;
}

/** The job as it is counted. */
export function counted({ object, namespace }: Job, { framework }: { framework: { name: string } }): Counted {
  return { uid: object.metadata.uid!, namespace, framework: framework.name };
}
