import { lastDue, type Schedule } from "@konverge/core";
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
  const due = lastDue(schedule, earliest, now);
  return due && { time: due.time, tooMany: due.count > TOO_MANY };
}
