import type { ReconcileContext } from "konverge";
import { deepEqual } from "konverge/objects";
import type { Job, JobObject } from "./job.ts";
import { holds } from "./job-conditions.ts";
import type { JobReport } from "./job-report.ts";
import { counted, type Tools } from "./job-tools.ts";

/** Owns what is reported. */
const REPORTER = "kubeflow-job-status";

/**
 * Stores a report in the job's status and tells what is new. The order of conditions means something, so the status is
 * written whole, and only if no client has written the job since it was read. What is to be done about a report is done
 * after this: whenever the operator stops in between, the next look finds both the report and the work.
 */
export async function publish<T extends JobObject>(
  job: Job<T>,
  report: JobReport,
  { client, events }: ReconcileContext,
  tools: Tools<T>,
): Promise<void> {
  const { status } = report;
  if (!deepEqual(job.object.status ?? {}, status)) {
    await client.updateStatus(tools.framework.kind, { ...job.object, status } as never, { fieldManager: REPORTER });
  }
  for (const { type, reason, message } of report.told) {
    if (type === "Normal") events.normal(reason, message);
    else events.warning(reason, message);
  }
  const of = counted(job, tools);
  if (holds(status.conditions, "Succeeded")) tools.metrics.job("successful", of);
  if (holds(status.conditions, "Failed")) tools.metrics.job("failed", of);
}
