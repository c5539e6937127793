import { cel, z } from "konverge";

/** A name that SQL takes without quotes. */
const identifier = () => z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/);

/** A database for an application, and the role that owns it. */
export const applicationSpec = z.object({
  database: identifier()
    .check(cel("!(self in ['postgres', 'template0', 'template1'])", "this database belongs to the server"))
    .default("app")
    .describe("The name of the database."),
  owner: identifier()
    .check(
      cel(
        "!(self in ['postgres', 'replicator', 'monitor']) && !self.startsWith('pg_')",
        "this role belongs to the server or to the operator",
      ),
    )
    .optional()
    .describe("The role that owns the database. Default: the name of the database."),
});
