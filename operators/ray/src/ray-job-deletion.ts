import type { RayJob } from "./ray-job.ts";

/** What is deleted of a job that has finished. */
export type DeletionPolicy = "DeleteWorkers" | "DeleteCluster" | "DeleteSelf" | "DeleteNone";

/** What is due, and in how many milliseconds something else is. */
export interface Deletions {
  readonly due: ReadonlySet<DeletionPolicy>;
  readonly next?: number;
}

/** The rules of a job, in whichever way they are given. */
function rulesOf({ spec, status }: RayJob): { policy: DeletionPolicy; seconds: number }[] {
  const { deletionStrategy: strategy, shutdownAfterJobFinishes, ttlSecondsAfterFinished: seconds } = spec;
  const shutdown = shutdownAfterJobFinishes ? [{ policy: "DeleteCluster" as const, seconds }] : [];
  if (strategy?.deletionRules)
    return strategy.deletionRules
      .filter(({ condition: { jobStatus, jobDeploymentStatus } }) =>
        jobStatus ? jobStatus === status?.jobStatus : jobDeploymentStatus === status?.jobDeploymentStatus,
      )
      .map(({ policy, condition }) => ({ policy, seconds: condition.ttlSeconds }));
  const given = status?.jobStatus === "SUCCEEDED" ? strategy?.onSuccess : strategy?.onFailure;
  return given ? [...shutdown, { policy: given.policy, seconds: shutdownAfterJobFinishes ? seconds : 0 }] : shutdown;
}

/** What of a job that ended at `endTime` is to be deleted now. */
export function deletionsOf(job: RayJob, endTime: string | undefined, now: number): Deletions {
  const since = Date.parse(endTime ?? "");
  // A job whose end is not known has waited long enough.
  const left = (seconds: number) => (Number.isNaN(since) ? 0 : since + 1000 * seconds - now);
  const rules = rulesOf(job).map(({ policy, seconds }) => ({ policy, left: left(seconds) }));
  const waits = rules.map((rule) => rule.left).filter((ms) => ms > 0);
  const due = new Set(rules.filter((rule) => rule.left <= 0).map(({ policy }) => policy));
  return { due, ...(waits.length > 0 && { next: Math.min(...waits) }) };
}
