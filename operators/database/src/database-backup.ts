import { ageColumn, cel, conditionColumn, defineKind, type ObjectOf, wideColumn, z } from "konverge";
import { METHODS } from "./backup-spec.ts";

/** Names become names of Jobs, labels of their pods and folders. Those of a schedule's Jobs are as long as they may be. */
const nameRule = cel("size(self.metadata.name) <= 63", "the name becomes that of a Job: at most 63 characters");

/** How far a backup has come. */
export const BACKUP_PHASES = ["Pending", "Running", "Completed", "Failed", "Expired"] as const;

/** One backup of a Database: requested by a user, or created by the operator for a scheduled one. */
export const DatabaseBackup = defineKind({
  group: "example.com",
  kind: "DatabaseBackup",
  shortNames: ["dbb"],
  versions: {
    v1: {
      spec: z.object({
        database: z.string().min(1).describe("The Database, in the same namespace."),
        method: z.enum(METHODS).optional().describe("Default: the method of the Database."),
      }),
      status: z.object({
        phase: z.enum(BACKUP_PHASES).optional(),
        method: z.enum(METHODS).optional(),
        job: z.string().optional().describe("The Job that takes it."),
        claim: z.string().optional().describe("The claim of the volume that it is on."),
        folder: z.string().optional().describe("Its folder on that volume."),
        store: z.string().optional().describe("The object store that it is in."),
        label: z.string().optional().describe("What pgBackRest calls it in that store."),
        startedAt: z.string().optional(),
        stoppedAt: z.string().optional().describe("The earliest point in time that can be restored from it."),
        startLSN: z.string().optional(),
        stopLSN: z.string().optional(),
        size: z.int().optional().describe("In bytes."),
        server: z.string().optional().describe("The server that it was taken from."),
        kept: z.array(z.string()).optional().describe("The backups that existed after this one was taken."),
        error: z.string().optional(),
      }),
      columns: {
        Database: ".spec.database",
        Method: ".status.method",
        Phase: ".status.phase",
        Stopped: { jsonPath: ".status.stoppedAt", type: "date" },
        Size: wideColumn({ jsonPath: ".status.size", type: "integer" }),
        Ready: wideColumn(conditionColumn("Ready")),
        Age: ageColumn,
      },
      rules: [cel("self == oldSelf", "a backup is immutable: create another one")],
      objectRules: [nameRule],
    },
  },
});
export type DatabaseBackup = ObjectOf<typeof DatabaseBackup>;
