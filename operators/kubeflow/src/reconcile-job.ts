import { plannedChild, type ReconcileContext } from "konverge";
import { Pod } from "konverge/kinds";
import { timestamp } from "konverge/time";
import { refusalIn, reportChildren } from "./child-events.ts";
import { type JobResult, releaseGroup } from "./clear-away.ts";
import { afterTheEnd } from "./end-of-job.ts";
import type { Member } from "./framework.ts";
import type { Job, JobObject } from "./job.ts";
import { membersOfJob, podFor, serviceFor } from "./job-children.ts";
import { holds, isFinished } from "./job-conditions.ts";
import { MANAGED_BY } from "./job-fields.ts";
import { isLeaving, jobPod, type OwnPod, phaseOf } from "./job-pods.ts";
import { JobReport } from "./job-report.ts";
import { counted, type Tools } from "./job-tools.ts";
import { deadlineOf, exceededLimit } from "./outcome-limits.ts";
import { ensurePodGroup } from "./pod-group.ts";
import { obstacleIn, podEvents } from "./pod-problems.ts";
import { publish } from "./publish.ts";
import { jobOf } from "./read-job.ts";
import { survey } from "./survey.ts";

/** The retry delay after a PodGroup was refused, in milliseconds. */
const AFTER_REFUSAL = 30_000;
/** The polling interval while a PodGroup is not admitted, in milliseconds. */
const WHILE_WAITING = 5_000;

/** Reconciles a job of any framework. */
export async function reconcileJob<T extends JobObject>(
  object: T,
  context: ReconcileContext,
  tools: Tools<T>,
): Promise<JobResult> {
  const { managedBy = MANAGED_BY } = object.spec.runPolicy ?? {};
  if (managedBy !== MANAGED_BY) return {};
  const result = await resultFor(jobOf(object, tools.framework), context, tools);
  return {
    ...result,
    report(outcome) {
      reportChildren(outcome, context.events, tools.metrics);
      return result.report?.(outcome);
    },
  };
}

async function resultFor<T extends JobObject>(
  job: Job<T>,
  context: ReconcileContext,
  tools: Tools<T>,
): Promise<JobResult> {
  const { framework } = tools;
  const { name, status, runPolicy } = job;
  const pods = context.observed.all(Pod).flatMap((pod) => jobPod(pod, framework) ?? []);
  if (isFinished(status)) return afterTheEnd(job, pods, context, tools);
  const { kind } = framework.kind;
  const report = new JobReport(kind, status, timestamp(context.clock));
  report.created(`${kind} ${name} is created.`);
  if (!status.conditions) tools.metrics.job("created", counted(job, tools));
  if (runPolicy.suspend) return suspend(job, report, context, tools);
  const [wrong] = tools.rules.problems(job.object);
  if (wrong) {
    report.stalled({ reason: "InvalidSpec", message: `${wrong.field}: ${wrong.message}` });
    return { wholeStatus: publish(job, report, context.events, tools) };
  }
  if (holds(status.conditions, "Suspended")) report.resumed(`${kind} ${name} is resumed.`);
  const limit = holds(status.conditions, "Suspended") ? undefined : exceededLimit(job, pods, context.clock.now());
  if (limit !== undefined) {
    report.failed(limit);
    // What is left of it is deleted once the end is stored.
    return { wholeStatus: publish(job, report, context.events, tools) };
  }
  return goOn(job, pods, report, context, tools);
}

/** Reconciles a job. */
async function goOn<T extends JobObject>(
  job: Job<T>,
  pods: readonly OwnPod[],
  report: JobReport,
  context: ReconcileContext,
  tools: Tools<T>,
): Promise<JobResult> {
  const { framework } = tools;
  const wait = await waitForGroup(job, report, context, tools);
  if (wait !== undefined) {
    const children = pods.map(({ pod }) => pod);
    return { children, wholeStatus: publish(job, report, context.events, tools), requeueAfter: wait };
  }
  const found = survey(job, pods, framework, report);
  reportPodEvents(job, pods, report, tools);
  if (report.isFinished) {
    report.stalled(obstacleIn(pods));
    return { wholeStatus: publish(job, report, context.events, tools) };
  }
  // Pods are restarted once that is reported.
  const unwanted = new Set([...(report.isStored ? found.restarts : []), ...found.surplus]);
  const services = membersOfJob(job).map((member) => serviceFor(job, member, framework));
  const missing = found.missing.map((member) => ({ member, draft: podFor(job, member, framework, tools.gang) }));
  return {
    children: [
      ...services,
      ...(framework.others?.for(job) ?? []),
      ...pods.filter((one) => !unwanted.has(one)).map(({ pod }) => pod),
      ...missing
        .filter(({ draft }) => !isTaken(draft.metadata.name, pods, context))
        .map(({ draft }) => plannedChild(draft, { onRefused: "report" })),
    ],
    ...untilDeadline({ ...job, status: report.status }, context.clock.now()),
    report(outcome) {
      const problem = refusalIn(outcome);
      report.stalled(problem ?? obstacleIn(pods));
      const isNews = problem !== undefined && !report.knows(problem);
      if (isNews) context.events.warning("FailedCreatePod", `Error creating: ${outcome.refused[0]!.message}`);
      for (const { member, draft } of missing) {
        const isCreated = outcome.created.some(({ metadata }) => metadata.name === draft.metadata.name);
        if (isCreated) warnOverridden(job, member, report, tools.gang?.schedulerName);
      }
      const deleted = new Set(outcome.deleted.map(({ metadata }) => metadata.uid));
      tools.metrics.restarted(
        counted(job, tools),
        found.restarts.filter(({ pod }) => deleted.has(pod.metadata.uid)),
      );
      return { wholeStatus: publish(job, report, context.events, tools) };
    },
  };
}

/** Whether a name is taken by a pod of this job that has lost its labels: it must be deleted before it can be recreated. */
function isTaken(name: string, pods: readonly OwnPod[], { observed }: ReconcileContext): boolean {
  return observed(Pod, name) !== undefined && !pods.some(({ pod }) => pod.metadata.name === name);
}

function warnOverridden(job: Job, { replica }: Member, report: JobReport, scheduler: string | undefined): void {
  if (replica.template.spec?.restartPolicy) {
    const why = "Restart policy in pod template will be overwritten by restart policy in replica spec";
    report.event("Warning", "SetPodTemplateRestartPolicy", why);
  }
  const isOther = (name: string | undefined) => name !== undefined && name !== "" && name !== scheduler;
  if (scheduler && job.replicas.some(({ template }) => isOther(template.spec?.schedulerName))) {
    const why = "Another scheduler is specified when gang-scheduling is enabled and it will not be overwritten";
    report.event("Warning", "SetPodTemplateSchedulerName", why);
  }
}

/** When the time of a job is up, which no event reports. */
function untilDeadline(job: Job, now: number): { requeueAfter?: number } {
  const deadline = deadlineOf(job);
  return deadline === undefined ? {} : { requeueAfter: Math.max(1, deadline - now) };
}

/** With a gang scheduler pods are made only when it has admitted their group; until then, how long to wait. */
async function waitForGroup<T extends JobObject>(
  job: Job<T>,
  report: JobReport,
  { client }: ReconcileContext,
  { gang, framework, metrics }: Tools<T>,
): Promise<number | undefined> {
  if (!gang) return undefined;
  const group = await ensurePodGroup(job, framework, gang, client);
  if (group === "created") metrics.group("created");
  if (group === "waiting") return WHILE_WAITING;
  if (typeof group !== "object") return undefined;
  report.stalled(group);
  return AFTER_REFUSAL;
}

/** Records the events that upstream reports about pods, each of them once. */
function reportPodEvents<T extends JobObject>(
  { namespace }: Job<T>,
  pods: readonly OwnPod[],
  report: JobReport,
  { occurrences, metrics }: Tools<T>,
): void {
  for (const { type, reason, message } of podEvents(pods)) {
    if (occurrences.first(`${namespace} ${reason} ${message}`)) report.event(type, reason, message);
  }
  for (const one of pods) {
    const { name, uid } = one.pod.metadata;
    if (phaseOf(one) === "Failed") metrics.podFailed(uid!);
    if (one.exitCode === undefined || isLeaving(one) || !occurrences.first(`${uid} ended`)) continue;
    report.event("Normal", "ExitedWithCode", `Pod: ${namespace}.${name} exited with code ${one.exitCode}`);
  }
}

async function suspend<T extends JobObject>(
  job: Job<T>,
  report: JobReport,
  context: ReconcileContext,
  tools: Tools<T>,
): Promise<JobResult> {
  report.suspended(`${tools.framework.kind.kind} ${job.name} is suspended.`);
  const statuses = Object.entries(job.status.replicaStatuses ?? {});
  report.replicas(Object.fromEntries(statuses.map(([type, { active: _, ...rest }]) => [type, rest])));
  await releaseGroup(job, context, tools);
  return { children: [], wholeStatus: publish(job, report, context.events, tools) };
}
