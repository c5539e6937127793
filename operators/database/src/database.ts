import { age, defineKind, type ObjectOf, opaque, quantity } from "konverge";
import type { ResourceRequirements } from "konverge/kinds";
import { z } from "zod";

/** A database: one server with its volume, its credentials, its Service, and backups if asked for. */
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
        image: z.string().min(1).optional().describe("Default: the engine's official image."),
        storageClass: z.string().min(1).optional().describe("Default: the cluster's."),
        resources: opaque<ResourceRequirements>()
          .optional()
          .describe("Default: requests of 100m and 256Mi, limits of 500m and 512Mi."),
        parameters: z.record(z.string(), z.string()).optional().describe("Settings of the server."),
        hibernated: z.boolean().optional().describe("Stops the server and keeps all its data."),
        deletionPolicy: z
          .enum(["Delete", "Retain"])
          .default("Retain")
          .describe("What becomes of the volume when the object is deleted."),
        backup: z
          .object({
            schedule: z.string().min(1).describe("When: `0 3 * * *`, as CronJobs have it."),
            timeZone: z.string().optional(),
            keep: z.int().min(1).default(7).describe("How many backups are kept."),
            size: quantity().default("10Gi").describe("Of the volume that backups are kept on."),
          })
          .optional(),
      }),
      status: z.object({
        phase: z.enum(["Creating", "Running", "Failed"]).optional(),
        engine: z.string().optional(),
        endpoint: z.string().optional().describe("Where clients connect."),
        secretName: z.string().optional().describe("The Secret with the administrator's password."),
        podName: z.string().optional(),
        storage: z.string().optional().describe("The size that the volume has."),
        lastBackupTime: z.string().optional(),
      }),
      columns: { Version: ".spec.version", Size: ".spec.size", Phase: ".status.phase", Age: age },
    },
  },
});
export type Database = ObjectOf<typeof Database>;
