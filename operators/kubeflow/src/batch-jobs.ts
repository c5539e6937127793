import type { Job as BatchJob } from "konverge/kinds";

/** How a Job has ended; undefined while it has not. */
export function endOf(job: BatchJob | undefined) {
  return job?.status?.conditions?.find(
    ({ type, status }) => status === "True" && (type === "Complete" || type === "Failed"),
  );
}
