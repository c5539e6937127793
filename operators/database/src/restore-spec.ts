import type { DeepReadonly } from "konverge/objects";
import { z } from "zod";

/** A moment in UTC, as 2026-03-01T12:30:00Z. */
const MOMENT = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?Z$/;
/** A place in the WAL, as 0/3000148. */
const PLACE = /^[0-9A-F]{1,8}\/[0-9A-F]{1,8}$/;

/** Which backup, and up to when. */
export const recoverySpec = z.object({
  from: z
    .object({
      database: z
        .string()
        .min(1)
        .optional()
        .describe("The Database whose backups they are. Default: the restored one."),
      backup: z
        .string()
        .min(1)
        .optional()
        .describe(
          "The name of a backup; one that is being taken is waited for. Default: the newest that leads to the target.",
        ),
      claim: z.string().min(1).optional().describe("The claim with the backups, if the Database is gone."),
      method: z
        .enum(["physical", "logical"])
        .optional()
        .describe("Of the backup. Default: physical for postgres, logical for mysql."),
    })
    .optional(),
  targetTime: z.string().regex(MOMENT).optional().describe("What was committed until then, as 2026-03-01T12:30:00Z."),
  targetLSN: z.string().regex(PLACE).optional().describe("All up to this place in the WAL, as 0/3000148."),
  targetXID: z
    .string()
    .regex(/^[0-9]{1,10}$/)
    .optional()
    .describe("All up to this transaction. Needs from.backup."),
  targetTimeline: z
    .string()
    .regex(/^([0-9]{1,10}|latest|current)$/)
    .optional()
    .describe("Which history to follow where there are several, after earlier restores. Default: latest."),
});
export type RecoverySpec = DeepReadonly<z.infer<typeof recoverySpec>>;

/** What a {@link recoverySpec} must hold besides, where `self` is one. */
export const recoveryRules: readonly (readonly [rule: string, message: string])[] = [
  [
    "[has(self.targetTime), has(self.targetLSN), has(self.targetXID)].filter(given, given).size() <= 1",
    "targetTime, targetLSN, targetXID: at most one of them says up to when",
  ],
  [
    "!has(self.targetXID) || (has(self.from) && has(self.from.backup))",
    "targetXID needs from.backup: transactions do not tell when they were, so the backup to begin with must be named",
  ],
];
