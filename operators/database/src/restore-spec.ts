import { z } from "konverge";
import type { DeepReadonly } from "konverge/objects";
import { objectStoreSpec } from "./object-store-spec.ts";

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
        .describe("The Database that the backup was taken from. Default: the restored one."),
      backup: z
        .string()
        .min(1)
        .optional()
        .describe(
          "The name of a backup; one in progress is waited for. Default: the newest from which the target can be reached.",
        ),
      claim: z.string().min(1).optional().describe("The claim with the backups, if the Database is gone."),
      objectStore: objectStoreSpec
        .optional()
        .describe("The object store with the backups, if the Database is gone or elsewhere."),
      method: z
        .enum(["physical", "logical"])
        .optional()
        .describe("Of the backup. Default: physical for postgres, logical for mysql."),
    })
    .optional(),
  targetTime: z
    .string()
    .regex(MOMENT)
    .optional()
    .describe("Restores what was committed until then, such as 2026-03-01T12:30:00Z."),
  targetLSN: z.string().regex(PLACE).optional().describe("Restores up to this WAL position, such as 0/3000148."),
  targetXID: z
    .string()
    .regex(/^[0-9]{1,10}$/)
    .optional()
    .describe("Restores up to this transaction. Needs from.backup."),
  targetTimeline: z
    .string()
    .regex(/^([0-9]{1,10}|latest|current)$/)
    .optional()
    .describe("Which timeline to follow if there are several, after earlier restores. Default: latest."),
});
export type RecoverySpec = DeepReadonly<z.infer<typeof recoverySpec>>;

/** What a {@link recoverySpec} must hold besides, where `self` is one. */
export const recoveryRules: readonly (readonly [rule: string, message: string])[] = [
  [
    "[has(self.targetTime), has(self.targetLSN), has(self.targetXID)].filter(given, given).size() <= 1",
    "targetTime, targetLSN, targetXID: set at most one of them",
  ],
  [
    "!has(self.targetXID) || (has(self.from) && has(self.from.backup))",
    "targetXID needs from.backup: a transaction ID has no time, so name the backup to start from",
  ],
  [
    "!has(self.from) || !has(self.from.claim) || !has(self.from.objectStore)",
    "from.claim, from.objectStore: set at most one of them",
  ],
];
