import type { Schedule } from "@konverge/core";
import type { CronJob } from "@konverge/kinds";

/** More missed starts than this are reported with a warning. */
const TOO_MANY = 100;

/** The start that is due, if one is. */
export interface DueStart {
  time: number;
  /** More than {@link TOO_MANY} starts were missed. */
  tooMany: boolean;
}

/** The most recent missed start. Earlier ones are skipped. */
export function dueStart({ metadata, spec, status }: CronJob, schedule: Schedule, now: number): DueStart | undefined {
  let earliest = Date.parse(status?.lastScheduleTime ?? metadata.creationTimestamp!);
  if (spec?.startingDeadlineSeconds !== undefined) {
    earliest = Math.max(earliest, now - spec.startingDeadlineSeconds * 1000);
  }
  const first = schedule.next(earliest);
  if (first === undefined || first > now) return undefined;
  const second = schedule.next(first);
  if (second === undefined || second > now) return { time: first, tooMany: false };
  const interval = second - first;
  const missed = Math.floor((now - first) / interval) + 1;
  // Close to the end first: there may be years of minutes in between.
  let time = first;
  let next = schedule.next(Math.max(first, first + (missed - 3) * interval));
  if (next !== undefined && next > now) next = second;
  for (; next !== undefined && next <= now; next = schedule.next(next)) time = next;
  return { time, tooMany: missed > TOO_MANY };
}
