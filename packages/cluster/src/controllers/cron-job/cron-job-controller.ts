import { deepCopy, isNotFound, type Mutable, parseSchedule, type Schedule, timeZone } from "@konverge/core";
import { CronJob, type CronJobStatus, Job, type ObjectReference } from "@konverge/kinds";
import {
  type ChildrenOutcome,
  type ObservedChild,
  ownedKind,
  plannedChild,
  type ReconcileContext,
  type ReconcileResult,
} from "@konverge/runtime";
import { builtInController } from "../../parts/built-in-controller.ts";
import { controllersComponent } from "../../parts/part.ts";
import { finishedCondition } from "../job/job-state.ts";
import { messageOf } from "../workloads/pod-control.ts";
import { changedStatus } from "../workloads/status.ts";
import { dueStart } from "./missed-starts.ts";

const NAME = "cronjob-controller";
const SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp";
/** Added to each delay, so that the start is due when it ends. */
const DELTA = 100;

type Jobs = readonly ObservedChild<Job>[];

/** Starts Jobs when it is time. */
function cronJobController() {
  return builtInController(CronJob, {
    name: NAME,
    owns: [ownedKind(Job, { createOnly: true })],
    async reconcile(cronJob, context): Promise<ReconcileResult<CronJob>> {
      const jobs = context.observed.all(Job);
      const status = await withEnded(context, cronJob, jobs);
      const expired = expiredJobs(cronJob, jobs);
      const schedule = scheduleOf(context, cronJob);
      const due = schedule && !cronJob.spec?.suspend ? dueJob(context, cronJob, schedule, status.active) : undefined;
      const replaced = due?.replaces ? activeIn(jobs, status.active) : [];
      const existing = due && context.observed(Job, due.name);
      const isCreated = due && !existing && replaced.length === 0;
      const next = cronJob.spec?.suspend ? undefined : schedule?.next(context.clock.now());
      return {
        children: [
          ...jobs.filter((job) => !expired.includes(job) && !replaced.includes(job)),
          ...(isCreated ? [plannedChild(jobAt(cronJob, due), { onRefused: "report" })] : []),
        ],
        ...(next !== undefined && { requeueAfter: next - context.clock.now() + DELTA }),
        report(outcome) {
          reportJobs(outcome, context);
          // An earlier try, of which the status does not know, counts like a new one.
          const started = outcome.created[0] ?? (existing && !finishedCondition(existing) ? existing : undefined);
          if (!due || !started) return changedStatus(cronJob, withoutJobs(status, replaced));
          const active = [...status.active, referenceTo(started as Job)];
          return changedStatus(cronJob, { ...status, active, lastScheduleTime: shortDate(due.time) });
        },
      };
    },
  });
}

function scheduleOf({ events }: ReconcileContext, { spec }: CronJob): Schedule | undefined {
  const { schedule = "", timeZone: zone = "" } = spec ?? {};
  try {
    timeZone(zone);
  } catch (error) {
    events.warning("UnknownTimeZone", `invalid timeZone: ${JSON.stringify(zone)}: ${messageOf(error)}`);
    return undefined;
  }
  try {
    return parseSchedule(schedule, zone);
  } catch (error) {
    events.warning("UnparseableSchedule", `unparseable schedule: ${JSON.stringify(schedule)} : ${messageOf(error)}`);
    return undefined;
  }
}

interface StatusWithJobs extends CronJobStatus {
  readonly active: readonly ObjectReference[];
}

/** The status without the active Jobs that have finished or no longer exist. */
async function withEnded(context: ReconcileContext, cronJob: CronJob, jobs: Jobs): Promise<StatusWithJobs> {
  const { events, client } = context;
  const status: Mutable<CronJobStatus> = deepCopy(cronJob.status ?? {});
  let active = [...(status.active ?? [])];
  for (const job of jobs) {
    const { uid, name } = job.metadata;
    const ended = finishedCondition(job);
    const isActive = active.some((reference) => reference.uid === uid);
    if (!isActive && !ended)
      events.warning("UnexpectedJob", `Saw a job that the controller did not create or forgot: ${name}`);
    if (isActive && ended) {
      active = active.filter((reference) => reference.uid !== uid);
      events.normal("SawCompletedJob", `Saw completed job: ${name}, condition: ${ended.type}`);
    }
    const { completionTime } = job.status ?? {};
    if (ended?.type === "Complete" && completionTime && completionTime > (status.lastSuccessfulTime ?? "")) {
      status.lastSuccessfulTime = completionTime;
    }
  }
  for (const reference of [...active]) {
    if (jobs.some(({ metadata }) => metadata.uid === reference.uid)) continue;
    const live = await client.get(Job, `${reference.namespace}/${reference.name}`).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
    if (live?.metadata.uid === reference.uid) continue;
    active = active.filter(({ uid }) => uid !== reference.uid);
    events.normal("MissingJob", `Active job went missing: ${reference.name}`);
  }
  return { ...status, active };
}

/** The Job that is due, and whether it replaces those that are active. */
interface DueJob {
  readonly name: string;
  readonly time: number;
  readonly replaces: boolean;
}

/** The Job that is due, if one is and no policy forbids it. */
function dueJob(
  { events, clock }: ReconcileContext,
  cronJob: CronJob,
  schedule: Schedule,
  active: readonly ObjectReference[],
): DueJob | undefined {
  const { startingDeadlineSeconds, concurrencyPolicy } = cronJob.spec!;
  const due = dueStart(cronJob, schedule, clock.now());
  if (!due) return undefined;
  if (due.tooMany) {
    const hint = "Set or decrease .spec.startingDeadlineSeconds or check clock skew";
    events.warning("TooManyMissedTimes", `too many missed start times. ${hint}`);
  }
  if (startingDeadlineSeconds !== undefined && due.time + startingDeadlineSeconds * 1000 < clock.now()) {
    events.warning("MissSchedule", `Missed scheduled time to start a job: ${longDate(due.time)}`);
    return undefined;
  }
  const name = `${cronJob.metadata.name}-${Math.floor(due.time / 60_000)}`;
  if (active.some((reference) => reference.name === name)) return undefined;
  if (concurrencyPolicy === "Forbid" && active.length > 0) {
    const why = "Not starting job because prior execution is running and concurrency policy is Forbid";
    events.normal("JobAlreadyActive", why);
    return undefined;
  }
  return { name, time: due.time, replaces: concurrencyPolicy === "Replace" };
}

const activeIn = (jobs: Jobs, active: readonly ObjectReference[]): Jobs =>
  jobs.filter(({ metadata }) => active.some(({ uid }) => uid === metadata.uid));

function withoutJobs(status: StatusWithJobs, jobs: Jobs): StatusWithJobs {
  return { ...status, active: status.active.filter(({ uid }) => !jobs.some(({ metadata }) => metadata.uid === uid)) };
}

function jobAt(cronJob: CronJob, { name, time }: DueJob) {
  const { metadata = {}, spec } = cronJob.spec!.jobTemplate;
  return Job.draft({
    metadata: {
      name,
      namespace: cronJob.metadata.namespace,
      ...(metadata.labels && { labels: metadata.labels }),
      annotations: { ...metadata.annotations, [SCHEDULED]: zonedDate(time, cronJob.spec?.timeZone) },
    },
    spec: spec!,
  });
}

function referenceTo({ metadata }: Job): ObjectReference {
  const { name, namespace, uid, resourceVersion } = metadata;
  return {
    kind: "Job",
    namespace: namespace!,
    name,
    uid: uid!,
    apiVersion: "batch/v1",
    resourceVersion: resourceVersion!,
  };
}

function reportJobs({ created, deleted, refused }: ChildrenOutcome, { events }: ReconcileContext): void {
  for (const { metadata } of deleted) events.normal("SuccessfulDelete", `Deleted job ${metadata.name}`);
  for (const { metadata } of created) events.normal("SuccessfulCreate", `Created job ${metadata.name}`);
  for (const { child, reason, message } of refused) {
    // As the API server reports a name that another object has.
    const why = reason.startsWith("Child") ? `jobs.batch "${child.metadata.name}" already exists` : message;
    events.warning("FailedCreate", `Error creating job: ${why}`);
  }
}

/** Of each sort of ended Jobs, those beyond the number that the CronJob keeps, the oldest. */
function expiredJobs({ spec }: CronJob, jobs: Jobs): Jobs {
  const { successfulJobsHistoryLimit = 3, failedJobsHistoryLimit = 1 } = spec ?? {};
  const started = ({ status, metadata }: Job) => status?.startTime ?? metadata.creationTimestamp ?? "";
  const beyond = (type: string, limit: number) => {
    const ended = jobs.filter((job) => finishedCondition(job)?.type === type && !job.metadata.deletionTimestamp);
    ended.sort((a, b) =>
      started(a) < started(b) ? -1 : started(a) > started(b) ? 1 : a.metadata.name < b.metadata.name ? -1 : 1,
    );
    return ended.slice(0, Math.max(0, ended.length - limit));
  };
  return [...beyond("Complete", successfulJobsHistoryLimit), ...beyond("Failed", failedJobsHistoryLimit)];
}

const shortDate = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

/** `Mon, 02 Jan 2006 15:04:05 +0000`. */
const longDate = (ms: number): string => new Date(ms).toUTCString().replace("GMT", "+0000");

function zonedDate(ms: number, zone: string | undefined): string {
  if (!zone) return shortDate(ms);
  const offset = timeZone(zone).offset(ms);
  if (offset === 0) return shortDate(ms);
  const shown = new Date(ms + offset * 60_000).toISOString().slice(0, 19);
  const two = (value: number) => String(value).padStart(2, "0");
  const minutes = Math.abs(offset);
  return `${shown}${offset < 0 ? "-" : "+"}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** Starts the Jobs of CronJobs. */
export const cronJobs = controllersComponent(NAME, [CronJob], () => [cronJobController()]);
