import { cel, quantity, z } from "konverge";
import { objectStoreSpec } from "./object-store-spec.ts";

/** `90m`, `36h`, `14d`. */
const SPAN = /^[1-9][0-9]*[smhd]$/;
const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** How a backup is taken: the server's files with their WAL, or a dump of SQL. */
export const METHODS = ["physical", "logical"] as const;
export type BackupMethod = (typeof METHODS)[number];

/** Of a volume, or of dumps: with an object store there is neither. */
const notInStore = (field: string, unused: string) =>
  cel(`!has(self.objectStore) || ${unused}`, {
    message: `${field} is for backups on a volume: omit it, or objectStore`,
    reason: "FieldValueForbidden",
    fieldPath: `.${field}`,
  });

const drillSpec = z.object({
  schedule: z.string().min(1).describe("Cron schedule, such as `0 5 * * 0`."),
  timeZone: z.string().optional(),
  target: z
    .enum(["random", "latest"])
    .default("random")
    .describe(
      "Up to when to restore: a second that chance chooses after the newest backup, or the end of the archive.",
    ),
  query: z
    .string()
    .min(1)
    .optional()
    .describe(
      "SQL for the restored server, such as `select count(*) > 0 from orders`. False, nothing or an error fail the drill.",
    ),
  database: z.string().min(1).default("postgres").describe("The database in which the query runs."),
});

/** What a Database says about its backups. */
export const backupSpec = z
  .object({
    schedule: z
      .string()
      .min(1)
      .optional()
      .describe("Cron schedule, such as `0 3 * * *`. Default: only DatabaseBackups take backups."),
    timeZone: z.string().optional(),
    method: z
      .enum(METHODS)
      .optional()
      .describe("physical: files and WAL, to any point in time (postgres only, its default); logical: a dump of SQL."),
    keep: z.int().min(1).default(7).describe("The minimum number of backups to keep."),
    keepFor: z
      .string()
      .regex(SPAN)
      .optional()
      .describe("Keeps what is needed to restore any point in time of this period, such as 14d."),
    archiveTimeout: z
      .string()
      .regex(SPAN)
      .default("5m")
      .describe(
        "WAL is archived after this time even if its segment is not full: the most that losing a server can cost.",
      ),
    size: quantity().default("10Gi").describe("Size of the backup volume; without meaning in an object store."),
    claim: z.string().min(1).optional().describe("An existing claim to use instead of creating one."),
    accessMode: z
      .enum(["ReadWriteOnce", "ReadWriteMany"])
      .optional()
      .describe(
        "Access mode of the volume. Default: ReadWriteOnce for one instance, ReadWriteMany for more. On a ReadWriteOnce volume, physical backups keep all servers on one node.",
      ),
    objectStore: objectStoreSpec
      .optional()
      .describe("Keeps backups and WAL in an object store instead of a volume, by pgBackRest. Postgres only."),
    drill: drillSpec
      .optional()
      .describe("Restores the newest backup into a temporary server on a schedule, and checks it. Postgres only."),
  })
  .check(
    cel("!has(self.drill) || !has(self.method) || self.method == 'physical'", {
      message: "drills restore physical backups: omit drill, or set method to physical",
      reason: "FieldValueForbidden",
      fieldPath: ".drill",
    }),
    notInStore("claim", "!has(self.claim)"),
    notInStore("accessMode", "!has(self.accessMode)"),
    notInStore("method", "!has(self.method) || self.method == 'physical'"),
  );

/** A time span as seconds. */
export function spanSeconds(text: string): number {
  return Number.parseInt(text, 10) * (SECONDS[text.slice(-1)] ?? 1);
}
