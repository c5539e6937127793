import { ageColumn, cel, defineKind, duration, type ObjectOf, opaqueObject, quantity, z } from "konverge";
import type { ResourceRequirements } from "konverge/kinds";
import { podTemplateField } from "konverge/pods";
import { applicationSpec } from "./application-spec.ts";
import { backupSpec } from "./backup-spec.ts";
import { declaredDatabases, declaredRoles, declaredStatus } from "./declared-spec.ts";
import { replicaSpec, replicaStatus } from "./replica-spec.ts";
import { recoverySpec } from "./restore-spec.ts";

/** When no server accepts writes and the primary does not come back. */
const failover = z.object({
  delay: duration().default("30s").describe("How long the primary can be unavailable before a standby is promoted."),
  allowDataLoss: z
    .boolean()
    .optional()
    .describe(
      "Whether a standby that may lack the last commits can be promoted. Default: true with three or more instances and without synchronous.",
    ),
});

const storage = z.object({
  growWhenUsed: z
    .int()
    .min(1)
    .max(99)
    .default(85)
    .describe("Usage of a volume, in percent, above which all volumes grow."),
  step: z
    .string()
    .regex(/^[0-9]+([KMGTP]i?|%)$/)
    .default("20%")
    .describe("How much to grow: a size, or a percentage of the current size."),
  limit: quantity().describe("Volumes do not grow automatically beyond this size."),
});

const pooler = z.object({
  instances: z.int().min(1).default(2),
  mode: z.enum(["session", "transaction", "statement"]).default("transaction"),
  maxClients: z.int().min(1).default(1000).describe("Client connections per pooler."),
  poolSize: z.int().min(1).default(20).describe("Connections to the server, per pooler, user and database."),
  image: z.string().min(1).default("edoburu/pgbouncer:v1.24.1-p1"),
});

/** Whether the engine is PostgreSQL, as `engineOf` decides it. */
const IS_POSTGRES =
  "(has(self.spec.engine) ? self.spec.engine == 'postgres' : self.metadata.name.contains('postgres'))";

/** What MySQL does not have, by its field. */
const postgresOnly = (field: string, isUnused: string) =>
  cel(`${IS_POSTGRES} || ${isUnused}`, {
    message: `${field} is supported for postgres only: omit it, or choose that engine`,
    reason: "FieldValueForbidden",
    fieldPath: `.spec.${field}`,
  });

/** Whether the superuser can log in, as `hasSuperuserAccess` decides it. */
const HAS_SUPERUSER =
  "(has(self.spec.enableSuperuserAccess) ? self.spec.enableSuperuserAccess : !has(self.spec.application))";

/** The official image cannot archive to an object store. */
const NEEDS_IMAGE = "!has(self.spec.backup) || !has(self.spec.backup.objectStore) || has(self.spec.image)";

/** A database: a primary with its standbys, their volumes, credentials, Services, and backups if asked for. */
export const Database = defineKind({
  group: "example.com",
  kind: "Database",
  shortNames: ["db"],
  versions: {
    v1: {
      spec: z.object({
        version: z.string().min(1).describe("Version of the database server: a tag of its image."),
        size: z
          .string()
          .regex(/^[0-9]+[a-zA-Z]+$/)
          .describe("Size of the volume, such as 5Gi. It can grow, but not shrink."),
        engine: z
          .enum(["postgres", "mysql"])
          .optional()
          .describe("Default: postgres if the object's name contains it, otherwise mysql."),
        instances: z
          .int()
          .min(1)
          .max(10)
          .default(1)
          .describe("Number of servers: one primary and its standbys. MySQL has one server."),
        synchronous: z.int().min(0).max(9).default(0).describe("Number of standbys that must confirm each commit."),
        failover: failover.optional(),
        switchoverTo: z
          .string()
          .min(1)
          .optional()
          .describe("The pod to make the primary, once. Change the value to request another switchover."),
        image: z.string().min(1).optional().describe("Default: the engine's official image."),
        runAsUser: z
          .int()
          .min(1)
          .optional()
          .describe("Default: the user of the official image, `postgres` or `mysql`."),
        storageClass: z.string().min(1).optional().describe("Default: the cluster's."),
        storage: storage.optional().describe("Makes volumes grow automatically."),
        resources: opaqueObject<ResourceRequirements>()
          .optional()
          .describe("Default: requests of 100m and 256Mi, limits of 500m and 512Mi."),
        parameters: z.record(z.string(), z.string()).optional().describe("Settings of the server."),
        hibernated: z.boolean().optional().describe("Stops the servers and keeps their data."),
        deletionPolicy: z
          .enum(["Delete", "Retain"])
          .default("Retain")
          .describe("What happens to the volumes when the object is deleted."),
        credentials: z
          .object({ rotateEvery: duration().optional().describe("How often the password is rotated, such as 720h.") })
          .optional(),
        application: applicationSpec
          .optional()
          .describe("Creates a database and the role that owns it, with a Secret `<name>-app`."),
        roles: declaredRoles
          .optional()
          .describe("Roles of the server. What is changed by hand is repaired; a role that is not listed stays."),
        databases: declaredDatabases
          .optional()
          .describe("Databases of the server, with their schemas and extensions. One that is not listed stays."),
        enableSuperuserAccess: z
          .boolean()
          .optional()
          .describe(
            "Whether the superuser can log in over the network with the password of `<name>-credentials`. Default: only without application.",
          ),
        tls: z
          .object({
            required: z.boolean().default(false).describe("Whether connections without TLS are refused."),
            secretName: z
              .string()
              .min(1)
              .optional()
              .describe("A Secret with tls.crt and tls.key. Default: certificates of an authority of the operator."),
            issuerRef: z
              .object({
                name: z.string().min(1),
                kind: z.string().min(1).default("Issuer").describe("Issuer, ClusterIssuer, or a kind of the group."),
                group: z.string().min(1).default("cert-manager.io"),
              })
              .optional()
              .describe("The issuer from which cert-manager gets the certificate."),
          })
          .check(cel("!has(self.secretName) || !has(self.issuerRef)", "secretName, issuerRef: set at most one of them"))
          .optional()
          .describe("Offers TLS to clients; servers use it among themselves."),
        exporter: z
          .object({
            image: z.string().min(1).optional(),
            resources: opaqueObject<ResourceRequirements>()
              .optional()
              .describe("Default: requests of 10m and 64Mi, a memory limit of 256Mi."),
          })
          .optional()
          .describe("Runs an exporter of metrics beside each server, on port 9187."),
        template: podTemplateField(),
        pooler: pooler.optional().describe("Runs PgBouncer in front of the primary."),
        backup: backupSpec.optional().describe("Keeps backups on a separate volume, or in an object store."),
        replica: replicaSpec
          .optional()
          .describe(
            "Follows another Database, until it is promoted: its servers are copies of that one's and take no writes.",
          ),
        bootstrap: recoverySpec
          .optional()
          .describe("Starts from a backup instead of an empty database. Can only be set when the Database is created."),
      }),
      status: z.object({
        phase: z.enum(["Creating", "Running", "Failed"]).optional(),
        engine: z.string().optional(),
        version: z.string().optional().describe("The version that the servers run."),
        image: z.string().optional().describe("The image of the servers."),
        endpoint: z.string().optional().describe("Where clients connect."),
        readEndpoint: z.string().optional().describe("Where clients that only read connect."),
        secretName: z.string().optional().describe("The Secret with the administrator's password."),
        applicationSecretName: z.string().optional().describe("The Secret of the application's role."),
        certificateName: z.string().optional().describe("The Certificate that cert-manager issues, and its Secret."),
        podName: z.string().optional().describe("The pod of the primary."),
        instances: z.int().optional(),
        readyInstances: z.int().optional(),
        currentPrimary: z.string().optional().describe("The pod that accepts writes; absent while there is none."),
        term: z.int().optional().describe("Increases with each change of the primary."),
        timeline: z.int().optional().describe("The timeline of PostgreSQL."),
        primaryLostSince: z.string().optional(),
        lastSwitchover: z.string().optional().describe("The last `switchoverTo` that was completed or abandoned."),
        confirming: z
          .string()
          .optional()
          .describe("The standbys that the primary waits for, as PostgreSQL's synchronous_standby_names."),
        selfFencing: z
          .object({ pod: z.string().describe("The UID of the pod."), afterSeconds: z.int() })
          .optional()
          .describe("The primary stops by itself after this number of seconds without contact, as it last reported."),
        servers: z
          .array(
            z.object({
              name: z.string(),
              role: z.string().optional(),
              ready: z.boolean(),
              node: z.string().optional(),
              pendingRestart: z
                .array(z.string())
                .optional()
                .describe("Parameters whose new value it gets by a restart, which follows."),
              behindSeconds: z.int().optional().describe("Replay lag of a standby."),
              usedPercent: z.int().optional().describe("Usage of its volume."),
            }),
          )
          .optional(),
        roles: declaredStatus.optional().describe("The outcomes for spec.roles."),
        databases: declaredStatus.optional().describe("The outcomes for spec.databases."),
        replica: replicaStatus.optional().describe("The Database that it follows, and how far it has come."),
        update: z
          .enum(["Waiting", "Updating"])
          .optional()
          .describe("Whether it gets the pods of a new version of the operator, or waits for its turn."),
        topology: z.string().optional().describe("The operator's record of the primary."),
        storage: z.string().optional().describe("The size of the volumes."),
        lastBackupTime: z.string().optional(),
        firstRecoverable: z.string().optional().describe("The earliest time that the backups can restore."),
        lastRecoverable: z
          .string()
          .optional()
          .describe("The latest time that the backups can restore, as of about a minute ago."),
        gaps: z
          .array(
            z.object({
              from: z.string(),
              to: z.string().optional().describe("The end of the next base backup; absent until there is one."),
              firstSegment: z.string(),
              lastSegment: z.string(),
            }),
          )
          .optional()
          .describe("Times in between that cannot be restored, because WAL segments are missing in the archive."),
        drills: z
          .array(
            z.object({
              name: z.string().describe("The Job."),
              startedAt: z.string(),
              result: z.enum(["Passed", "Failed"]),
              backup: z.string().optional(),
              target: z.string().optional(),
              recoveredTo: z.string().optional().describe("Time of the last restored transaction."),
              seconds: z.int().optional().describe("How long it took."),
              error: z.string().optional(),
            }),
          )
          .optional()
          .describe("The last restore drills, the latest first."),
      }),
      objectRules: [
        postgresOnly("instances", "!has(self.spec.instances) || self.spec.instances == 1"),
        ...[
          "switchoverTo",
          "storage",
          "pooler",
          "application",
          "roles",
          "databases",
          "enableSuperuserAccess",
          "tls",
          "replica",
        ].map((field) => postgresOnly(field, `!has(self.spec.${field})`)),
        postgresOnly("backup.objectStore", "!has(self.spec.backup) || !has(self.spec.backup.objectStore)"),
        cel("!has(self.spec.replica) || !has(self.spec.bootstrap)", {
          message: "cannot be set with bootstrap: a Database that follows another one begins as a copy of it",
          reason: "FieldValueForbidden",
          fieldPath: ".spec.replica",
        }),
        postgresOnly("backup.drill", "!has(self.spec.backup) || !has(self.spec.backup.drill)"),
        cel(NEEDS_IMAGE, {
          message: "backup.objectStore needs image: one of PostgreSQL that also has pgBackRest",
          reason: "FieldValueRequired",
          fieldPath: ".spec.image",
        }),
        cel(`!has(self.spec.pooler) || ${HAS_SUPERUSER} || has(self.spec.application)`, {
          message: "a pooler needs application or enableSuperuserAccess: without them, no role can log in through it",
          reason: "FieldValueForbidden",
          fieldPath: ".spec.pooler",
        }),
        cel(
          `!${IS_POSTGRES} || !has(self.spec.backup) || !has(self.spec.backup.method) || self.spec.backup.method != 'logical' || ${HAS_SUPERUSER}`,
          {
            message: "dumps are taken by the superuser: set enableSuperuserAccess to true, or method to physical",
            reason: "FieldValueForbidden",
            fieldPath: ".spec.backup.method",
          },
        ),
        cel("has(oldSelf.spec.bootstrap) || !has(self.spec.bootstrap)", {
          message: "can only be set when the Database is created: to restore one that exists, create a DatabaseRestore",
          reason: "FieldValueForbidden",
          fieldPath: ".spec.bootstrap",
        }),
        postgresOnly(
          "credentials.rotateEvery",
          "!has(self.spec.credentials) || !has(self.spec.credentials.rotateEvery)",
        ),
      ],
      columns: { Version: ".spec.version", Size: ".spec.size", Phase: ".status.phase", Age: ageColumn },
    },
  },
});
export type Database = ObjectOf<typeof Database>;
