import { cel, listMap, z } from "konverge";

const ensure = z
  .enum(["present", "absent"])
  .default("present")
  .describe("absent drops it, which fails while something depends on it. Something that is not listed stays as it is.");
/** PostgreSQL's limit in bytes; the webhook counts those. */
const name = z.string().min(1).max(63);

/** A role of the server, by the names that CloudNativePG uses. */
const role = z
  .object({
    name,
    ensure,
    comment: z.string().optional(),
    login: z.boolean().default(false),
    superuser: z.boolean().default(false),
    createdb: z.boolean().default(false),
    createrole: z.boolean().default(false),
    inherit: z.boolean().default(true),
    replication: z.boolean().default(false),
    bypassrls: z.boolean().default(false),
    connectionLimit: z.int().min(-1).default(-1),
    validUntil: z.iso.datetime().optional().describe("When the password expires. Default: never."),
    inRoles: z
      .array(name)
      .optional()
      .describe("The roles that it is a member of, and no others. Default: memberships are not managed."),
    passwordSecret: z
      .object({ name: z.string().min(1) })
      .optional()
      .describe("A Secret with the password under the key `password`. The server gets each new value."),
    disablePassword: z.boolean().optional().describe("Removes the password."),
  })
  .check(
    cel("!has(self.passwordSecret) || !has(self.disablePassword) || !self.disablePassword", {
      message: "passwordSecret, disablePassword: set at most one of them",
    }),
  );

const schema = z.object({
  name,
  ensure,
  owner: name.optional().describe("Default: the owner of the database, when the schema is created."),
});

const extension = z.object({
  name,
  ensure,
  version: z.string().min(1).optional().describe("Default: what the server has; an installed version stays."),
  schema: name.optional().describe("Where its objects are. Default: the extension's choice."),
});

/** A database within the server. */
const database = z.object({
  name,
  ensure,
  owner: name.optional().describe("The role that owns it. Only the application's database can omit it."),
  connectionLimit: z.int().min(-1).default(-1),
  schemas: z.array(schema).max(100).check(listMap("name")).optional(),
  extensions: z.array(extension).max(100).check(listMap("name")).optional(),
});

export const declaredRoles = z.array(role).max(200).check(listMap("name"));
export const declaredDatabases = z.array(database).max(100).check(listMap("name"));

/** The outcome for one of them, as the primary last reported it. */
export const declaredStatus = z
  .array(
    z.object({
      name: z.string(),
      state: z.enum(["Pending", "Applied", "Failed"]),
      message: z.string().optional().describe("Why it failed."),
    }),
  )
  .check(listMap("name"));
