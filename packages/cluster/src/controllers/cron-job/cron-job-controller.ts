import {
  deepCopy,
  isAlreadyExists,
  isControlledBy,
  isNotFound,
  keyOf,
  type Mutable,
  ownerReference,
} from "@konverge/core";
import { CronJob, type CronJobStatus, Job, type ObjectReference } from "@konverge/kinds";
import { type ReconcileContext, valueChanged } from "@konverge/runtime";
import { builtInController } from "../../parts/built-in-controller.ts";
import { controllersComponent } from "../../parts/part.ts";
import { finishedCondition } from "../job/job-state.ts";
import { childrenOf, watchChildren } from "../workloads/claim.ts";
import { messageOf } from "../workloads/pod-control.ts";
import { SelectorIndex } from "../workloads/selector-index.ts";
import { writeStatus } from "../workloads/status.ts";
import { dueStart } from "./missed-starts.ts";
import { parseSchedule, type Schedule } from "./schedule.ts";
import { timeZone } from "./time-zone.ts";

const NAME = "cronjob-controller";
const SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp";
/** Added to each wait, so that the time has come when it ends. */
const DELTA = 100;

/** Starts Jobs when it is time. */
function cronJobController() {
  // CronJobs own Jobs by reference alone: none is adopted.
  const noSelector = new SelectorIndex<CronJob>(() => undefined);
  return builtInController(CronJob, {
    name: NAME,
    watches: [watchChildren(Job, CronJob, noSelector, valueChanged(whatMatters))],
    async reconcile(given, context) {
      const jobs = childrenOf(context, Job, given);
      await forgetOldJobs(context, given, jobs);
      const cronJob = await noteEnded(context, given, jobs);
      const schedule = scheduleOf(context, cronJob);
      if (cronJob.spec?.suspend || !schedule) return undefined;
      await start(context, cronJob, jobs, schedule);
      const now = context.clock.now();
      const next = schedule.next(now);
      return next === undefined ? undefined : { requeueAfter: next - now + DELTA };
    },
  });
}

/** Of a Job: whether it has ended, how and when, and whether it is still there and the CronJob's. */
function whatMatters({ metadata, status }: Job): unknown {
  const { deletionTimestamp, ownerReferences } = metadata;
  return [status?.conditions, status?.startTime, status?.completionTime, deletionTimestamp, ownerReferences];
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

/** Brings the list of active Jobs up to date. */
async function noteEnded(context: ReconcileContext, cronJob: CronJob, jobs: readonly Job[]): Promise<CronJob> {
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
  return writeStatus(context, CronJob, cronJob, { ...status, active });
}

/** Starts the Job that is due, if one is and nothing speaks against it. */
async function start(
  context: ReconcileContext,
  cronJob: CronJob,
  jobs: readonly Job[],
  schedule: Schedule,
): Promise<void> {
  const { events, clock } = context;
  const { startingDeadlineSeconds, concurrencyPolicy } = cronJob.spec!;
  const due = dueStart(cronJob, schedule, clock.now());
  if (!due) return;
  if (due.tooMany) {
    const hint = "Set or decrease .spec.startingDeadlineSeconds or check clock skew";
    events.warning("TooManyMissedTimes", `too many missed start times. ${hint}`);
  }
  if (startingDeadlineSeconds !== undefined && due.time + startingDeadlineSeconds * 1000 < clock.now()) {
    events.warning("MissSchedule", `Missed scheduled time to start a job: ${longDate(due.time)}`);
    return;
  }
  const name = `${cronJob.metadata.name}-${Math.floor(due.time / 60_000)}`;
  const active = cronJob.status?.active ?? [];
  if (active.some((reference) => reference.name === name)) return;
  if (concurrencyPolicy === "Forbid" && active.length > 0) {
    const why = "Not starting job because prior execution is running and concurrency policy is Forbid";
    events.normal("JobAlreadyActive", why);
    return;
  }
  let kept: ObjectReference[] = [...active];
  if (concurrencyPolicy === "Replace") {
    for (const job of jobs) if (active.some(({ uid }) => uid === job.metadata.uid)) await deleteJob(context, job);
    kept = [];
  }
  const job = await createJob(context, cronJob, name, due.time);
  if (!job) return;
  const { namespace, uid, resourceVersion } = job.metadata;
  const reference = {
    kind: "Job",
    namespace: namespace!,
    name,
    uid: uid!,
    apiVersion: "batch/v1",
    resourceVersion: resourceVersion!,
  };
  const lastScheduleTime = shortDate(due.time);
  await writeStatus(context, CronJob, cronJob, { ...cronJob.status, active: [...kept, reference], lastScheduleTime });
}

async function createJob(
  { client, events }: ReconcileContext,
  cronJob: CronJob,
  name: string,
  time: number,
): Promise<Job | undefined> {
  const { metadata = {}, spec } = cronJob.spec!.jobTemplate;
  const namespace = cronJob.metadata.namespace!;
  try {
    // Direct writes: a Job is started once for each time that is due, and the history is limited by number.
    const job = await client.create(Job, {
      metadata: {
        name,
        namespace,
        ...(metadata.labels && { labels: metadata.labels }),
        annotations: { ...metadata.annotations, [SCHEDULED]: zonedDate(time, cronJob.spec?.timeZone) },
        ownerReferences: [ownerReference(CronJob, cronJob)],
      },
      spec: spec!,
    });
    events.normal("SuccessfulCreate", `Created job ${name}`);
    return job;
  } catch (error) {
    if (isAlreadyExists(error)) {
      // An earlier try, of which the status does not know.
      const job = await client.get(Job, `${namespace}/${name}`);
      if (isControlledBy(job, cronJob) && !finishedCondition(job)) return job;
      if (isControlledBy(job, cronJob)) return undefined;
    }
    events.warning("FailedCreate", `Error creating job: ${messageOf(error)}`);
    throw error;
  }
}

async function deleteJob({ client, events }: ReconcileContext, job: Job): Promise<void> {
  try {
    await client.delete(Job, keyOf(job), { propagationPolicy: "Background" });
    events.normal("SuccessfulDelete", `Deleted job ${job.metadata.name}`);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** Keeps as many ended Jobs of each sort as the CronJob asks for, the newest. */
async function forgetOldJobs(context: ReconcileContext, { spec }: CronJob, jobs: readonly Job[]): Promise<void> {
  const { successfulJobsHistoryLimit = 3, failedJobsHistoryLimit = 1 } = spec ?? {};
  const started = ({ status, metadata }: Job) => status?.startTime ?? metadata.creationTimestamp ?? "";
  const forget = async (type: string, limit: number) => {
    const ended = jobs.filter((job) => finishedCondition(job)?.type === type && !job.metadata.deletionTimestamp);
    ended.sort((a, b) =>
      started(a) < started(b) ? -1 : started(a) > started(b) ? 1 : a.metadata.name < b.metadata.name ? -1 : 1,
    );
    for (const job of ended.slice(0, Math.max(0, ended.length - limit))) await deleteJob(context, job);
  };
  await forget("Complete", successfulJobsHistoryLimit);
  await forget("Failed", failedJobsHistoryLimit);
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
