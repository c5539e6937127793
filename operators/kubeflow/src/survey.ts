import type { Framework, Member } from "./framework.ts";
import type { Job, JobObject, Replica } from "./job.ts";
import { membersOfJob } from "./job-children.ts";
import { countOf, isLeaving, type JobPod, membersOf, phaseOf, type ReplicaCount, replicaStatus } from "./job-pods.ts";
import type { JobReport } from "./job-report.ts";

/** Exit codes from here on are signals and the like: trying again may help. */
const RETRYABLE = 128;

/** What there is of a job, and what follows from it. */
export interface Survey {
  /** Pods that have failed and are to be recreated. */
  readonly restarts: readonly JobPod[];
  /** Pods beyond the desired number. */
  readonly surplus: readonly JobPod[];
  readonly missing: readonly Member[];
}

/** Looks at the pods of a job, and says in the report how the job is doing. */
export function survey<T extends JobObject>(
  job: Job<T>,
  pods: readonly JobPod[],
  framework: Framework<T>,
  report: JobReport,
): Survey {
  const counts = new Map<string, ReplicaCount>();
  const restarts: JobPod[] = [];
  for (const replica of job.replicas) {
    const members = membersOf(pods, replica);
    counts.set(replica.type, countOf(members));
    for (const one of members.filter((member) => phaseOf(member) === "Failed")) {
      if (isFatal(one, replica)) {
        report.failed(`job "${job.name}" is failing because "${replica.type}" replica(s) failed.`, "Warning");
      } else if (replica.restartPolicy !== "Never") restarts.push(one);
    }
    const again = restarts.filter((one) => one.type === replica.type.toLowerCase());
    if (again.length === 0) continue;
    const message = `job ${job.name} is restarting because ${replica.type} replica(s) failed.`;
    report.restarting(message);
    // The framework may word this differently, or decide that the job still runs: the event is recorded in any case.
    if (!again.every(isLeaving)) report.event("Warning", `${framework.kind.kind}Restarting`, message);
  }
  report.started();
  report.replicas(
    Object.fromEntries(
      job.replicas.map((replica) => {
        const known = counts.get(replica.type)!;
        return [replica.type, replicaStatus(known, job, replica, framework)];
      }),
    ),
  );
  if (!report.isFinished) framework.judge(job, { counts, pods }, report);
  return {
    restarts: restarts.filter((one) => !isLeaving(one)),
    surplus: pods.filter((one) => isSurplus(one, job) && !isLeaving(one)),
    missing: membersOfJob(job).filter(({ replica, index }) => {
      return !pods.some((one) => one.type === replica.type.toLowerCase() && one.index === index);
    }),
  };
}

function isFatal({ exitCode }: JobPod, { restartPolicy }: Replica): boolean {
  // A container without an exit code did not exit: its pod was evicted, or its node was lost.
  return restartPolicy === "ExitCode" && exitCode !== undefined && exitCode < RETRYABLE;
}

function isSurplus({ type, index }: JobPod, { replicas }: Job): boolean {
  const replica = replicas.find((one) => one.type.toLowerCase() === type);
  return replica === undefined || index >= replica.count;
}
