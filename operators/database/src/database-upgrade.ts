import { ageColumn, cel, conditionColumn, defineKind, type ObjectOf, wideColumn, z } from "konverge";

/** Names become parts of the names of Jobs, and labels of their pods. */
export const LONGEST_UPGRADE_NAME = 52;

/** How far an upgrade has come. */
export const UPGRADE_PHASES = [
  "Pending",
  "Checking",
  "Stopping",
  "Upgrading",
  "Starting",
  "Finishing",
  "Undoing",
  "Completed",
  "Failed",
] as const;

const release = z.object({ version: z.string().min(1), image: z.string().min(1) });

/** Brings the data of a Database to another major version of PostgreSQL, in place. The operator creates it for a new `version`. */
export const DatabaseUpgrade = defineKind({
  group: "example.com",
  kind: "DatabaseUpgrade",
  shortNames: ["dbu"],
  versions: {
    v1: {
      spec: z.object({
        database: z.string().min(1).describe("The Database, in the same namespace."),
        from: release.describe("What its servers run."),
        to: release.describe("What they run afterwards."),
      }),
      status: z.object({
        phase: z.enum(UPGRADE_PHASES).optional(),
        primary: z.string().optional().describe("The server whose volume is upgraded; the others copy it."),
        rehearsalSeconds: z.int().optional().describe("How long the rehearsal on a copy took."),
        startedAt: z.string().optional(),
        startingAt: z.string().optional().describe("When the servers were started with the new version."),
        completedAt: z.string().optional(),
        error: z.string().optional(),
      }),
      columns: {
        Database: ".spec.database",
        From: ".spec.from.version",
        To: ".spec.to.version",
        Phase: ".status.phase",
        Ready: wideColumn(conditionColumn("Ready")),
        Age: ageColumn,
      },
      rules: [cel("self == oldSelf", "an upgrade is immutable: delete it, and the operator creates another one")],
      objectRules: [
        cel(
          `size(self.metadata.name) <= ${LONGEST_UPGRADE_NAME}`,
          `the name becomes part of the names of Jobs: at most ${LONGEST_UPGRADE_NAME} characters`,
        ),
      ],
    },
  },
});
export type DatabaseUpgrade = ObjectOf<typeof DatabaseUpgrade>;
