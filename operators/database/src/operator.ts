import { operator } from "konverge";
import { Database } from "./database.ts";
import { databaseAdmission } from "./database-admission.ts";
import { databases } from "./database-controller.ts";

/** Everything of this package in one: what `konverge run`, `install` and `deploy` take. */
export const databaseOperator = operator({
  name: "database-operator",
  description: "Runs PostgreSQL and MySQL servers with their volumes, credentials and backups.",
  kinds: [Database],
  create: () => ({ controllers: [databases()], admissions: [databaseAdmission()] }),
});
