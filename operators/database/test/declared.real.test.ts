import { keepsDatabases, keepsRoles, quotesNames } from "./declared-stories.ts";
import { withPostgres } from "./postgres.ts";

withPostgres("declared roles have their attributes, memberships and passwords, and are repaired", keepsRoles);
withPostgres(
  "declared databases have their owners, schemas and extensions, and what fails is reported",
  keepsDatabases,
);
withPostgres("hostile names of roles and databases are nothing but names", quotesNames);
