import { ageColumn, cel, conditionColumn, defineKind, type ObjectOf, wideColumn, z } from "konverge";
import { objectStoreSpec } from "./object-store-spec.ts";
import { recoveryRules, recoverySpec } from "./restore-spec.ts";

/** Names become parts of the names of Jobs, and labels of their pods. */
export const LONGEST_RESTORE_NAME = 52;

/** How far a restore has come. */
export const RESTORE_PHASES = [
  "Pending",
  "Checking",
  "Stopping",
  "Restoring",
  "Starting",
  "Finishing",
  "Undoing",
  "Completed",
  "Failed",
] as const;

/** Brings a backup back into a Database: in place, or as the beginning of a new one. */
export const DatabaseRestore = defineKind({
  group: "example.com",
  kind: "DatabaseRestore",
  shortNames: ["dbr"],
  versions: {
    v1: {
      spec: recoverySpec.extend({
        database: z.string().min(1).describe("The Database that is restored, in the same namespace."),
        inPlace: z
          .boolean()
          .default(false)
          .describe("Replaces the data of the Database. Default: only an empty Database is restored."),
      }),
      status: z.object({
        phase: z.enum(RESTORE_PHASES).optional(),
        method: z.string().optional(),
        backup: z.string().optional().describe("The backup that it starts from."),
        claim: z.string().optional().describe("The claim of the volume that it is on."),
        objectStore: objectStoreSpec.optional().describe("The object store that it is in."),
        recoveredTo: z.string().optional().describe("Time of the last restored transaction."),
        timeline: z.string().optional().describe("The timeline that starts with it."),
        primary: z.string().optional().describe("The server whose volume is restored."),
        startedAt: z.string().optional(),
        completedAt: z.string().optional(),
        error: z.string().optional(),
        steps: z
          .array(z.object({ name: z.string(), state: z.string() }))
          .optional()
          .describe("The steps of the restore, in order."),
      }),
      columns: {
        Database: ".spec.database",
        Backup: ".status.backup",
        Phase: ".status.phase",
        RecoveredTo: wideColumn({ jsonPath: ".status.recoveredTo", type: "string" }),
        Ready: wideColumn(conditionColumn("Ready")),
        Age: ageColumn,
      },
      rules: [
        cel("self == oldSelf", "a restore is immutable: create another one"),
        ...recoveryRules.map(([rule, message]) => cel(rule, message)),
      ],
      objectRules: [
        cel(
          `size(self.metadata.name) <= ${LONGEST_RESTORE_NAME}`,
          `the name becomes part of the names of Jobs: at most ${LONGEST_RESTORE_NAME} characters`,
        ),
      ],
    },
  },
});
export type DatabaseRestore = ObjectOf<typeof DatabaseRestore>;
