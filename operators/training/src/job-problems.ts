import type { Context } from "konverge";
import type { Problem } from "./job-status.ts";
import type { TrainingJob } from "./training-job.ts";

/** Tells users of a problem when it appears, and not each time that it is still there. */
export function tell(job: TrainingJob, problem: Problem | undefined, { events }: Context): void {
  const known = job.status?.conditions?.find(({ type, status }) => type === "Degraded" && status === "True");
  if (problem && known?.reason !== problem.reason) events.warning(problem.reason, problem.message);
}
