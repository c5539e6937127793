import { ageColumn, defineKind, type ObjectOf, z } from "konverge";
import { RayJob, rayJobSpec } from "./ray-job.ts";

const spec = z.object({
  schedule: z.string().min(1).describe('When jobs start, as cron has it: "45 21 * * *", or @daily.'),
  timeZone: z.string().min(1).optional().describe("Where the clock of the schedule hangs: Asia/Taipei. Default: UTC."),
  suspend: z.boolean().optional().describe("Starts no more jobs. Those that have started go on."),
  jobTemplate: rayJobSpec.describe("The spec of each RayJob."),
});

const status = z.object({
  lastScheduleTime: z.iso.datetime().optional().describe("When the last job was due."),
});

const columns = {
  schedule: ".spec.schedule",
  timezone: ".spec.timeZone",
  "last schedule": { jsonPath: ".status.lastScheduleTime", type: "date" as const },
  age: ageColumn,
  suspend: { jsonPath: ".spec.suspend", type: "boolean" as const },
};

/** RayJobs on a schedule. */
export const RayCronJob = defineKind({
  group: "ray.io",
  kind: "RayCronJob",
  categories: ["all"],
  versions: { v1: { spec, status, columns } },
});
export type RayCronJob = ObjectOf<typeof RayCronJob>;

/** A job of the schedule, as far as its own rules are concerned. */
export const templateOf = ({ metadata, spec }: RayCronJob) => RayJob.new({ metadata, spec: spec.jobTemplate });
