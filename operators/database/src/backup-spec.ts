import { quantity } from "konverge";
import { z } from "zod";

/** `90m`, `36h`, `14d`. */
const SPAN = /^[1-9][0-9]*[smhd]$/;
const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** How a backup is taken: the server's files with their WAL, or a dump of SQL. */
export const METHODS = ["physical", "logical"] as const;
export type BackupMethod = (typeof METHODS)[number];

/** What a Database says about its backups. */
export const backupSpec = z.object({
  schedule: z
    .string()
    .min(1)
    .optional()
    .describe("When: `0 3 * * *`, as CronJobs have it. Default: only when a DatabaseBackup asks for one."),
  timeZone: z.string().optional(),
  method: z
    .enum(METHODS)
    .optional()
    .describe("physical: files and WAL, to any point in time (postgres only, its default); logical: a dump of SQL."),
  keep: z.int().min(1).default(7).describe("How many backups are kept at least."),
  keepFor: z
    .string()
    .regex(SPAN)
    .optional()
    .describe("Keeps what is needed to get back to any moment of this time, as 14d."),
  archiveTimeout: z
    .string()
    .regex(SPAN)
    .default("5m")
    .describe("After this time WAL is archived also if its segment is not full: how much a lost server may cost."),
  size: quantity().default("10Gi").describe("Of the volume that backups are kept on."),
  claim: z.string().min(1).optional().describe("A claim that is there already, instead of one that is made."),
  accessMode: z
    .enum(["ReadWriteOnce", "ReadWriteMany"])
    .optional()
    .describe("Of the volume. Default: ReadWriteOnce for one instance, ReadWriteMany for more."),
});

/** A time span as seconds. */
export function spanSeconds(text: string): number {
  return Number.parseInt(text, 10) * (SECONDS[text.slice(-1)] ?? 1);
}
