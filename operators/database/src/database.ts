import { ageColumn, defineKind, duration, type ObjectOf, opaqueObject, quantity } from "konverge";
import type { ResourceRequirements } from "konverge/kinds";
import { podTemplateField } from "konverge/pods";
import { z } from "zod";
import { backupSpec } from "./backup-spec.ts";
import { recoverySpec } from "./restore-spec.ts";

/** When nobody may write and the primary does not come back. */
const failover = z.object({
  delay: duration().default("30s").describe("How long the primary may be away before another takes its place."),
  allowDataLoss: z
    .boolean()
    .default(false)
    .describe("Whether another may take its place that perhaps has not got the last commits."),
});

const storage = z.object({
  growWhenUsed: z.int().min(1).max(99).default(85).describe("Percent of a volume from which on all volumes grow."),
  step: z
    .string()
    .regex(/^[0-9]+([KMGTP]i?|%)$/)
    .default("20%")
    .describe("By how much: a size, or a part of what there is."),
  limit: quantity().describe("Beyond this they do not grow by themselves."),
});

const pooler = z.object({
  instances: z.int().min(1).default(2),
  mode: z.enum(["session", "transaction", "statement"]).default("transaction"),
  maxClients: z.int().min(1).default(1000).describe("Connections that each pooler takes."),
  poolSize: z.int().min(1).default(20).describe("Connections to the server, per pooler, user and database."),
  image: z.string().min(1).default("edoburu/pgbouncer:v1.24.1-p1"),
});

/** A database: a primary with its standbys, their volumes, credentials, Services, and backups if asked for. */
export const Database = defineKind({
  group: "example.com",
  kind: "Database",
  shortNames: ["db"],
  versions: {
    v1: {
      spec: z.object({
        version: z.string().min(1).describe("Of the database server: a tag of its image."),
        size: z
          .string()
          .regex(/^[0-9]+[a-zA-Z]+$/)
          .describe("Of the volume, as 5Gi. It may grow, never shrink."),
        engine: z
          .enum(["postgres", "mysql"])
          .optional()
          .describe("Default: postgres if the object's name says so, otherwise mysql."),
        instances: z.int().min(1).max(10).default(1).describe("Servers: one primary, the others are its standbys."),
        synchronous: z.int().min(0).max(9).default(0).describe("How many standbys must confirm each commit."),
        failover: failover.optional(),
        switchoverTo: z
          .string()
          .min(1)
          .optional()
          .describe("The pod that shall become the primary, once. Change it to ask again."),
        image: z.string().min(1).optional().describe("Default: the engine's official image."),
        runAsUser: z
          .int()
          .min(1)
          .optional()
          .describe("Default: the user of the official image, `postgres` or `mysql`."),
        storageClass: z.string().min(1).optional().describe("Default: the cluster's."),
        storage: storage.optional().describe("Lets volumes grow by themselves."),
        resources: opaqueObject<ResourceRequirements>()
          .optional()
          .describe("Default: requests of 100m and 256Mi, limits of 500m and 512Mi."),
        parameters: z.record(z.string(), z.string()).optional().describe("Settings of the server."),
        hibernated: z.boolean().optional().describe("Stops the server and keeps all its data."),
        deletionPolicy: z
          .enum(["Delete", "Retain"])
          .default("Retain")
          .describe("What becomes of the volume when the object is deleted."),
        credentials: z
          .object({ rotateEvery: duration().optional().describe("How long a password is used, as 720h.") })
          .optional(),
        exporter: z
          .object({ image: z.string().min(1).optional() })
          .optional()
          .describe("Runs an exporter of metrics beside each server, on port 9187."),
        template: podTemplateField(),
        pooler: pooler.optional().describe("Runs PgBouncer before the primary."),
        backup: backupSpec.optional().describe("Keeps backups on a volume of their own."),
        bootstrap: recoverySpec.optional().describe("Begins with a backup instead of empty."),
      }),
      status: z.object({
        phase: z.enum(["Creating", "Running", "Failed"]).optional(),
        engine: z.string().optional(),
        version: z.string().optional().describe("The version that servers are given."),
        endpoint: z.string().optional().describe("Where clients connect."),
        readEndpoint: z.string().optional().describe("Where clients that only read connect."),
        secretName: z.string().optional().describe("The Secret with the administrator's password."),
        podName: z.string().optional().describe("The pod of the primary."),
        instances: z.int().optional(),
        readyInstances: z.int().optional(),
        currentPrimary: z.string().optional().describe("The pod that takes writes; absent while none does."),
        term: z.int().optional().describe("Grows with each change of who leads."),
        timeline: z.int().optional().describe("PostgreSQL's own count of primaries."),
        primaryLostSince: z.string().optional(),
        lastSwitchover: z.string().optional().describe("The last `switchoverTo` that was carried out or given up."),
        confirming: z.string().optional().describe("Which standbys the primary waits for, in PostgreSQL's words."),
        servers: z
          .array(
            z.object({
              name: z.string(),
              role: z.string().optional(),
              ready: z.boolean(),
              behindSeconds: z.int().optional().describe("How far a standby is behind what it has received."),
              usedPercent: z.int().optional().describe("Of its volume."),
            }),
          )
          .optional(),
        topology: z.string().optional().describe("Who leads, as the operator remembers it."),
        storage: z.string().optional().describe("The size that the volumes have."),
        lastBackupTime: z.string().optional(),
      }),
      columns: { Version: ".spec.version", Size: ".spec.size", Phase: ".status.phase", Age: ageColumn },
    },
  },
});
export type Database = ObjectOf<typeof Database>;
