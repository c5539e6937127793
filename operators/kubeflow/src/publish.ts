import type { EventSink } from "konverge";
import type { Job, JobObject } from "./job.ts";
import { holds } from "./job-conditions.ts";
import type { JobStatus } from "./job-fields.ts";
import type { JobReport } from "./job-report.ts";
import { counted, type Tools } from "./job-tools.ts";

/**
 * The status to store for a report, whose news are reported in events and metrics. The order of conditions means
 * something, so the status is written whole, and only if no client has written the job since it was read. What a report
 * leads to is done in the reconcile after it: whenever the operator stops in between, both the report and the work are found.
 */
export function publish<T extends JobObject>(
  job: Job<T>,
  report: JobReport,
  events: EventSink,
  tools: Tools<T>,
): JobStatus {
  const { status } = report;
  for (const { type, reason, message } of report.events) {
    if (type === "Normal") events.normal(reason, message);
    else events.warning(reason, message);
  }
  const of = counted(job, tools);
  if (holds(status.conditions, "Succeeded")) tools.metrics.job("successful", of);
  if (holds(status.conditions, "Failed")) tools.metrics.job("failed", of);
  return status;
}
