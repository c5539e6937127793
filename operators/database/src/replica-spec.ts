import { cel, z } from "konverge";

const EITHER = "source: set database, or host and secretName";

const sourceSpec = z
  .object({
    database: z
      .string()
      .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/)
      .optional()
      .describe("A Database of the same namespace."),
    host: z
      .string()
      .regex(/^[A-Za-z0-9]([-A-Za-z0-9.:]*[A-Za-z0-9])?$/)
      .optional()
      .describe("Where the primary of a Database elsewhere is reached."),
    port: z.int().min(1).max(65_535).default(5432),
    secretName: z
      .string()
      .min(1)
      .optional()
      .describe("With host: a copy of the Secret `<name>-credentials` of that Database."),
  })
  .check(
    cel("has(self.database) != has(self.host) && has(self.host) == has(self.secretName)", {
      message: EITHER,
      reason: "FieldValueInvalid",
    }),
  );

/** Which other Database a Database follows, if it does. */
export const replicaSpec = z.object({
  enabled: z
    .boolean()
    .default(true)
    .describe("Whether this Database follows the source and takes no writes. false promotes it."),
  source: sourceSpec,
  promoteAt: z
    .string()
    .regex(/^[0-9A-Fa-f]{1,8}\/[0-9A-Fa-f]{1,8}$/)
    .optional()
    .describe(
      "With enabled: false, promotes it only when it has received more than this: the demotedAt of the source.",
    ),
});

/** What the status reports of it. */
export const replicaStatus = z.object({
  source: z.string().describe("Where the source is."),
  receivedLSN: z.string().optional().describe("Up to where the WAL of the source was received."),
  demotedAt: z
    .string()
    .optional()
    .describe("Where the writes of this Database ended, if it took any: the promoteAt of its successor."),
});
