import { cacheKind, conditionTrue, controller, ownedKind, type ReconcileContext } from "konverge";
import { Deployment } from "konverge/kinds";
import { truncatedName } from "konverge/objects";
import { lastDue, parseSchedule } from "konverge/time";
import { LOOK_AGAIN, UPSTREAM_DEPLOYMENT, upstreamWarning } from "./ray-controller.ts";
import { RayCronJob } from "./ray-cron-job.ts";
import { RayJob } from "./ray-job.ts";

/** On a job: the schedule that it belongs to, and when it was due. */
const SCHEDULED_BY = "ray.io/cronjob-name";
const DUE_AT = "ray.io/cronjob-scheduled-timestamp";
const MINUTE = 60_000;
/** The longest time that a timer waits. */
const LONGEST_WAIT = 20 * 1440 * MINUTE;

/**
 * Starts the jobs of each RayCronJob. The name of a job follows from the time at which it was due, so that a crash does not
 * start it twice. Of several times that were missed, the last one counts.
 */
export function rayCronJobs() {
  return controller(RayCronJob, {
    owns: [ownedKind(RayJob, { createOnly: true })],
    watches: [cacheKind(Deployment, { labelSelector: UPSTREAM_DEPLOYMENT })],
    reconcile(cron, context) {
      const warning = upstreamWarning(context, "RayCronJobs");
      if (warning) {
        context.events.warning("UpstreamOperator", warning);
        return { requeueAfter: LOOK_AGAIN };
      }
      const { spec, status, metadata } = cron;
      const { lastScheduleTime: last } = status ?? {};
      // Jobs stay until someone deletes them, or they delete themselves.
      const known = context.observed.all(RayJob).map((job) => RayJob.draft({ metadata: keptOf(job), spec: job.spec }));
      if (spec.suspend) {
        const Ready = conditionTrue("Suspended", "no more jobs are started");
        return { children: known, status: { ...(last && { lastScheduleTime: last }) }, conditions: { Ready } };
      }
      const now = context.clock.now();
      const schedule = parseSchedule(spec.schedule, spec.timeZone);
      const due = lastDue(schedule, Date.parse(last ?? metadata.creationTimestamp!), now)?.time;
      const started = due === undefined ? [] : [jobAt(cron, due)];
      report(started, context);
      const names = new Set(known.map(({ metadata: { name } }) => name));
      const next = schedule.next(now);
      const lastScheduleTime = due === undefined ? last : isoSeconds(due);
      const message = next === undefined ? "there is no next job" : `the next job starts at ${isoSeconds(next)}`;
      return {
        children: [...known, ...started.filter(({ metadata: { name } }) => !names.has(name))],
        status: { ...(lastScheduleTime && { lastScheduleTime }) },
        conditions: { Ready: conditionTrue("Scheduled", message) },
        ...(next !== undefined && { requeueAfter: Math.min(next - now, LONGEST_WAIT) }),
      };
    },
  });
}

const isoSeconds = (ms: number) => new Date(ms).toISOString().replace(".000Z", "Z");

/** What the operator has said of a job. */
function keptOf({ metadata: { name, namespace, labels = {}, annotations = {} } }: RayJob) {
  const { [SCHEDULED_BY]: by = "" } = labels;
  const { [DUE_AT]: at = "" } = annotations;
  return { name, namespace: namespace!, labels: { [SCHEDULED_BY]: by }, annotations: { [DUE_AT]: at } };
}

function jobAt({ metadata: { name, namespace }, spec }: RayCronJob, due: number) {
  return RayJob.draft({
    metadata: {
      name: truncatedName(name, String(Math.floor(due / MINUTE))),
      namespace: namespace!,
      labels: { [SCHEDULED_BY]: truncatedName(name) },
      annotations: { [DUE_AT]: isoSeconds(due) },
    },
    spec: spec.jobTemplate,
  });
}

function report(started: readonly { metadata: { name?: string } }[], { events }: ReconcileContext): void {
  for (const { metadata } of started) events.normal("Started", `RayJob ${metadata.name} was due`);
}
