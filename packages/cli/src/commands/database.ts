import { realClock } from "@konverge/core";
import { Command } from "commander";
import { milliseconds } from "../arguments.ts";
import type { ClusterChoice } from "../cluster-connection.ts";
import type { DatabaseKey } from "../database/database-objects.ts";
import { type Output, outputOption } from "../output-option.ts";
import { UsageError } from "../usage-error.ts";

interface DatabaseFlags extends ClusterChoice {
  readonly namespace?: string;
}

/** `konverge database`, also as `kubectl konverge database`. */
export function databaseCommand(): Command {
  const command = new Command("database")
    .description("examine and operate the Databases of a cluster")
    .enablePositionalOptions()
    .addHelpText(
      "after",
      `
With kubectl-konverge on the PATH, these are commands of kubectl, too: kubectl konverge database status postgres-orders`,
    );
  for (const one of [statusCommand(), promoteCommand(), fenceCommand(true), fenceCommand(false)])
    command.addCommand(one);
  return command.addCommand(backupCommand()).addCommand(psqlCommand());
}

function onDatabase(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .argument("<database>", "name of the Database")
    .option("-n, --namespace <name>", "namespace of the Database (default: that of the context)")
    .option("--kubeconfig <file>", "kubeconfig file (default: $KUBECONFIG or ~/.kube/config)")
    .option("--context <name>", "context of the kubeconfig (default: the current one)");
}

async function connected(name: string, { namespace, ...choice }: DatabaseFlags) {
  const { connectToCluster } = await import("../cluster-connection.ts");
  const client = await connectToCluster(choice);
  const key: DatabaseKey = { name, namespace: namespace ?? client.namespace };
  return { client, key };
}

function statusCommand(): Command {
  return onDatabase("status", "show the primary, the servers, what can be restored, and what is not as requested")
    .addOption(outputOption())
    .addHelpText(
      "after",
      "\nExits with 1 if the Database is not ready.\n\nFor example: npx konverge database status postgres-orders",
    )
    .action(async (name: string, { output, ...flags }: DatabaseFlags & { output: Output }) => {
      const { databaseOf } = await import("../database/database-objects.ts");
      const { statusText } = await import("../database/status-text.ts");
      const { client, key } = await connected(name, flags);
      await using _ = client;
      const database = await databaseOf(client, key);
      console.log(output === "json" ? JSON.stringify(database.status ?? {}, undefined, 2) : statusText(database));
      const ready = database.status?.conditions?.find(({ type }) => type === "Ready");
      if (ready?.status !== "True") process.exitCode = 1;
    });
}

function promoteCommand(): Command {
  return onDatabase("promote", "make a standby the primary, in order and without a loss")
    .argument("[pod]", "pod of the standby (default: the one that is the least behind)")
    .option("--timeout <duration>", "how long the hand-over may take", milliseconds, 600_000)
    .addHelpText("after", "\nFor example: npx konverge database promote postgres-orders postgres-orders-1")
    .action(
      async (name: string, pod: string | undefined, { timeout, ...flags }: DatabaseFlags & { timeout: number }) => {
        const { promote } = await import("../database/promote.ts");
        const { client, key } = await connected(name, flags);
        await using _ = client;
        const primary = await promote(client, key, { timeout, clock: realClock(), ...(pod !== undefined && { pod }) });
        console.log(`${primary} is the primary.`);
      },
    );
}

function fenceCommand(isFenced: boolean): Command {
  const [command, description] = isFenced
    ? ["fence", "stop servers and keep their pods and data; a fenced primary is not replaced"]
    : ["unfence", "let fenced servers run again"];
  return onDatabase(command, description)
    .argument("[pods...]", "pods of the servers")
    .option("--all", "all servers")
    .addHelpText("after", `\nFor example: npx konverge database ${command} postgres-orders postgres-orders-2`)
    .action(async (name: string, pods: string[], { all, ...flags }: DatabaseFlags & { all?: boolean }) => {
      if (pods.length > 0 === (all ?? false)) throw new UsageError("name pods of servers, or all of them with --all");
      const { changeFence } = await import("../database/fence.ts");
      const { client, key } = await connected(name, flags);
      await using _ = client;
      const fenced = await changeFence(client, key, { pods, isFenced });
      console.log(fenced.length > 0 ? `Fenced: ${fenced.join(", ")}` : "No server is fenced.");
    });
}

interface BackupFlags extends DatabaseFlags {
  readonly name?: string;
  readonly wait?: boolean;
  readonly timeout: number;
}

function backupCommand(): Command {
  return onDatabase("backup", "take a backup now")
    .option("--name <name>", "name of the DatabaseBackup (default: that of the Database, and the time)")
    .option("--wait", "wait until the backup has ended")
    .option("--timeout <duration>", "how long --wait waits", milliseconds, 3_600_000)
    .addHelpText("after", "\nFor example: npx konverge database backup postgres-orders --wait")
    .action(async (database: string, { name, wait, timeout, ...flags }: BackupFlags) => {
      const { awaitBackup, backup } = await import("../database/backup.ts");
      const { client, key } = await connected(database, flags);
      await using _ = client;
      const clock = realClock();
      const moment = new Date(clock.now())
        .toISOString()
        .replaceAll(/[-:]|\..*/g, "")
        .toLowerCase();
      const created = await backup(client, key, name ?? `${database}-${moment}`);
      console.log(`DatabaseBackup ${created} created.`);
      if (!wait) return;
      await awaitBackup(client, { ...key, name: created }, { timeout, clock });
      console.log(`DatabaseBackup ${created} completed.`);
    });
}

function psqlCommand(): Command {
  return onDatabase("psql", "run psql as the superuser in the pod of the primary")
    .argument("[args...]", "arguments of psql, after --")
    .option("--replica", "in the pod of a standby")
    .addHelpText(
      "after",
      `
For example: npx konverge database psql postgres-orders
             npx konverge database psql postgres-orders -- -d shop -c "select count(*) from orders"`,
    )
    .action(async (name: string, args: string[], { replica, ...flags }: DatabaseFlags & { replica?: boolean }) => {
      const { psql } = await import("../database/psql.ts");
      const { client, key } = await connected(name, flags);
      await using _ = client;
      process.exitCode = await psql(client, key, { args, ...(replica && { replica }) }, process);
    });
}
