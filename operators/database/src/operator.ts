import { type Operator, operator } from "konverge";
import { databaseBackups } from "./backup-controller.ts";
import { BackupMetrics } from "./backup-metrics.ts";
import { Database } from "./database.ts";
import { databaseAdmission } from "./database-admission.ts";
import { DatabaseBackup } from "./database-backup.ts";
import { databases } from "./database-controller.ts";
import { DatabaseRestore } from "./database-restore.ts";
import { DatabaseUpgrade } from "./database-upgrade.ts";
import { FleetRollout } from "./fleet-rollout.ts";
import { Leases } from "./leases.ts";
import { DatabaseMetrics } from "./metrics.ts";
import { databaseRecovery } from "./recovery-controller.ts";
import { databaseRestores } from "./restore-controller.ts";
import { SERVER } from "./server-pod.ts";
import { ASK_COMMAND, type AskServer, askByExec, GRANT } from "./server-report.ts";
import { databaseUpgrades } from "./upgrade-controller.ts";

/** `status.sh`, with a grant or without one. */
const ASKS = `(object.command == ${JSON.stringify(ASK_COMMAND)} || (object.command.size() == 3 && ${ASK_COMMAND.map(
  (word, index) => `object.command[${index}] == ${JSON.stringify(word)}`,
).join(" && ")} && object.command[2].matches(${JSON.stringify(GRANT)})))`;

/** The operator with another way to ask servers how they are doing: for tests on nodes where nothing really runs. */
export function databaseOperatorWith(ask: AskServer): Operator {
  return operator({
    name: "database-operator",
    description: "Runs PostgreSQL and MySQL servers with their standbys, volumes, credentials and backups.",
    kinds: [Database, DatabaseBackup, DatabaseRestore, DatabaseUpgrade],
    guards: [
      {
        resources: ["pods/exec"],
        expression: `${ASKS} && object.container == ${JSON.stringify(SERVER)}`,
        limit: `runs nothing in pods but ${ASK_COMMAND.join(" ")}, in the container ${SERVER}`,
      },
      {
        resources: ["pods"],
        expression: `request.operation == "DELETE" || (request.operation == "UPDATE" && object.spec == oldObject.spec)`,
        limit: "changes only the metadata of pods",
      },
    ],
    create({ metrics }) {
      return {
        controllers: [
          databases(ask, new DatabaseMetrics(metrics), new FleetRollout(), new Leases()),
          databaseRecovery(new BackupMetrics(metrics)),
          databaseBackups(),
          databaseRestores(),
          databaseUpgrades(),
        ],
        admissions: [databaseAdmission()],
      };
    },
  });
}

/** Everything of this package in one: what `konverge run`, `install` and `deploy` take. */
export const databaseOperator = databaseOperatorWith(askByExec);
