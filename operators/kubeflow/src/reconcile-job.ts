import type { ReconcileContext } from "konverge";
import { Pod } from "konverge/kinds";
import type { WorkloadProblem } from "konverge/pods";
import { timestamp } from "konverge/time";
import { clearAway, type JobResult, tellServices } from "./clear-away.ts";
import { afterTheEnd } from "./end-of-job.ts";
import type { Framework } from "./framework.ts";
import type { Job, JobObject } from "./job.ts";
import { membersOfJob, serviceFor } from "./job-children.ts";
import { holds, isFinished } from "./job-conditions.ts";
import { MANAGED_BY } from "./job-fields.ts";
import { createPods, deletePods } from "./job-pod-writes.ts";
import { isLeaving, type JobPod, jobPod, phaseOf } from "./job-pods.ts";
import { JobReport } from "./job-report.ts";
import { counted, type Tools } from "./job-tools.ts";
import { deadlineOf, exceededLimit } from "./outcome-limits.ts";
import { ensurePodGroup } from "./pod-group.ts";
import { obstacleIn, oddities } from "./pod-trouble.ts";
import { publish } from "./publish.ts";
import { jobOf } from "./read-job.ts";
import { survey } from "./survey.ts";

/** The index under which a job's pods are found by its uid. */
export const PODS_BY_JOB = "byJob";
/** A server that refuses pods is asked again after this. */
const AFTER_REFUSAL = 30_000;
/** A PodGroup that is not admitted is looked at again after this. */
const WHILE_WAITING = 5_000;

/** One look at a job of any framework. */
export async function reconcileJob<T extends JobObject>(
  object: T,
  context: ReconcileContext,
  tools: Tools<T>,
): Promise<JobResult> {
  const { managedBy = MANAGED_BY } = object.spec.runPolicy ?? {};
  if (managedBy !== MANAGED_BY) return {};
  const result = await resultFor(jobOf(object, tools.framework), context, tools);
  tellServices(result.children, context, { created: () => tools.metrics.serviceCreated() });
  return result;
}

async function resultFor<T extends JobObject>(
  job: Job<T>,
  context: ReconcileContext,
  tools: Tools<T>,
): Promise<JobResult> {
  const { framework } = tools;
  const { name, status, runPolicy } = job;
  const pods = context.cache
    .find(Pod, PODS_BY_JOB, job.object.metadata.uid!)
    .flatMap((pod) => jobPod(pod, framework as unknown as Framework) ?? []);
  if (isFinished(status)) return afterTheEnd(job, pods, context, tools);
  const { kind } = framework.kind;
  const report = new JobReport(kind, status, timestamp(context.clock));
  report.created(`${kind} ${name} is created.`);
  if (!status.conditions) tools.metrics.job("created", counted(job, tools));
  if (runPolicy.suspend) return suspend(job, pods, report, context, tools);
  const [wrong] = tools.rules.problems(job.object);
  if (wrong) {
    report.troubled({ reason: "InvalidSpec", message: `${wrong.field}: ${wrong.message}` });
    await publish(job, report, context, tools);
    return {};
  }
  if (holds(status.conditions, "Suspended")) report.resumed(`${kind} ${name} is resumed.`);
  const limit = holds(status.conditions, "Suspended") ? undefined : exceededLimit(job, pods, context.clock.now());
  if (limit !== undefined) {
    report.failed(limit);
    await publish(job, report, context, tools);
    await clearAway(job, pods, context, tools);
    return { children: framework.others?.for(job) ?? [] };
  }
  return goOn(job, pods, report, context, tools);
}

/** Reconciles a job. */
async function goOn<T extends JobObject>(
  job: Job<T>,
  pods: readonly JobPod[],
  report: JobReport,
  context: ReconcileContext,
  tools: Tools<T>,
): Promise<JobResult> {
  const { framework } = tools;
  const wait = await waitForGroup(job, report, context, tools);
  if (wait !== undefined) {
    await publish(job, report, context, tools);
    return { children: [], requeueAfter: wait };
  }
  const found = survey(job, pods, framework, report);
  tellOddities(job, pods, report, tools);
  const problem = report.isFinished ? undefined : await createPods(job, found.missing, report, context, tools);
  report.troubled(problem ?? obstacleIn(pods));
  await publish(job, report, context, tools);
  if (report.isFinished) return {};
  tools.metrics.restarted(counted(job, tools), found.restarts);
  await deletePods([...found.restarts, ...found.surplus], context, tools);
  const services = membersOfJob(job).map((member) => serviceFor(job, member, framework as unknown as Framework));
  return {
    children: [...services, ...(framework.others?.for(job) ?? [])],
    ...lookAgain({ ...job, status: report.status }, problem, context.clock.now()),
  };
}

/** What no event will tell: that the time is up, or that a server no longer refuses. */
function lookAgain(job: Job, problem: WorkloadProblem | undefined, now: number): { requeueAfter?: number } {
  const deadline = deadlineOf(job);
  const waits = [
    ...(deadline === undefined ? [] : [Math.max(1, deadline - now)]),
    // What is invalid stays so until the job changes, which is seen anyway.
    ...(problem && problem.reason !== "PodInvalid" ? [AFTER_REFUSAL] : []),
  ];
  return waits.length > 0 ? { requeueAfter: Math.min(...waits) } : {};
}

/** With a gang scheduler pods are made only when it has admitted their group; until then, how long to wait. */
async function waitForGroup<T extends JobObject>(
  job: Job<T>,
  report: JobReport,
  { client }: ReconcileContext,
  { gang, framework, metrics }: Tools<T>,
): Promise<number | undefined> {
  if (!gang) return undefined;
  const group = await ensurePodGroup(job, framework as unknown as Framework, gang, client);
  if (group === "created") metrics.group("created");
  if (group === "waiting") return WHILE_WAITING;
  if (typeof group !== "object") return undefined;
  report.troubled(group);
  return AFTER_REFUSAL;
}

/** What upstream tells of pods, once for each of them. */
function tellOddities<T extends JobObject>(
  { namespace }: Job<T>,
  pods: readonly JobPod[],
  report: JobReport,
  { seen, metrics }: Tools<T>,
): void {
  for (const { type, reason, message } of oddities(pods)) {
    if (seen.first(`${namespace} ${reason} ${message}`)) report.tell(type, reason, message);
  }
  for (const one of pods) {
    const { name, uid } = one.pod.metadata;
    if (phaseOf(one) === "Failed") metrics.podFailed(uid!);
    if (one.exitCode === undefined || isLeaving(one) || !seen.first(`${uid} ended`)) continue;
    report.tell("Normal", "ExitedWithCode", `Pod: ${namespace}.${name} exited with code ${one.exitCode}`);
  }
}

async function suspend<T extends JobObject>(
  job: Job<T>,
  pods: readonly JobPod[],
  report: JobReport,
  context: ReconcileContext,
  tools: Tools<T>,
): Promise<JobResult> {
  report.suspended(`${tools.framework.kind.kind} ${job.name} is suspended.`);
  const statuses = Object.entries(job.status.replicaStatuses ?? {});
  report.replicas(Object.fromEntries(statuses.map(([type, { active: _, ...rest }]) => [type, rest])));
  await publish(job, report, context, tools);
  await clearAway(job, pods, context, tools);
  return { children: [] };
}
