import { readFileSync } from "node:fs";
import { Command } from "commander";
import { bundleCommand } from "./commands/bundle.ts";
import { chartCommand } from "./commands/chart.ts";
import { cleanupCommand } from "./commands/cleanup.ts";
import { clusterCommands, envtestApiServerCommand, envtestCommands } from "./commands/cluster.ts";
import { completionCommand } from "./commands/completion.ts";
import { consoleCommand } from "./commands/console.ts";
import { databaseCommand } from "./commands/database.ts";
import { deployCommands } from "./commands/deploy.ts";
import { devCommand } from "./commands/dev.ts";
import { diffCrdCommand } from "./commands/diff-crd.ts";
import { docsCommand } from "./commands/docs.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { embeddedCommands } from "./commands/embedded.ts";
import { exploreCommand } from "./commands/explore.ts";
import { imageCommand } from "./commands/image.ts";
import { manifestsCommand } from "./commands/manifests.ts";
import { mcpCommand } from "./commands/mcp.ts";
import { migrateStorageCommand } from "./commands/migrate-storage.ts";
import { nodeCommand } from "./commands/node.ts";
import { operatorsCommand } from "./commands/operators.ts";
import { probeCommand } from "./commands/probe.ts";
import { projectCommands } from "./commands/project.ts";
import { rbacCommand } from "./commands/rbac.ts";
import { rehearseCommand } from "./commands/rehearse.ts";
import { replayCommand } from "./commands/replay.ts";
import { stopOnSignals, stopWithNpm } from "./commands/stop-on-signals.ts";
import { runCommand } from "./run/run-command.ts";

/** The `konverge` command with all it can do. `fail` ends the process with an error. */
export function konverge(fail: (error: unknown) => never): Command {
  const program = new Command("konverge")
    .description("Kubernetes operators in TypeScript, and a cluster to run them on.")
    .version(version())
    // Commands have options of the same names: `create api --version v1`.
    .enablePositionalOptions()
    .addHelpText(
      "after",
      `
For example: npx konverge init cache-operator
             npx konverge up --background

Exits with 0 on success and with 1 on failure; "konverge COMMAND --help" has other exit codes of a command.`,
    );
  for (const command of projectCommands(version())) program.addCommand(command);
  program.addCommand(devCommand());
  for (const command of clusterCommands(fail)) program.addCommand(command);
  for (const command of embeddedCommands()) program.addCommand(command);
  program.addCommand(nodeCommand());
  program.addCommand(runCommand(() => ({ env: process.env, stop: AbortSignal.any([stopOnSignals(), stopWithNpm()]) })));
  program.addCommand(operatorsCommand());
  program.addCommand(manifestsCommand());
  program.addCommand(chartCommand());
  program.addCommand(bundleCommand());
  program.addCommand(diffCrdCommand());
  program.addCommand(docsCommand());
  for (const command of deployCommands()) program.addCommand(command);
  program.addCommand(imageCommand());
  program.addCommand(databaseCommand());
  program.addCommand(cleanupCommand());
  program.addCommand(doctorCommand());
  program.addCommand(migrateStorageCommand());
  program.addCommand(replayCommand());
  program.addCommand(rehearseCommand());
  program.addCommand(consoleCommand(fail));
  program.addCommand(exploreCommand());
  program.addCommand(rbacCommand());
  program.addCommand(mcpCommand(version()));
  for (const command of envtestCommands()) program.addCommand(command);
  program.addCommand(completionCommand());
  program.addCommand(envtestApiServerCommand(), { hidden: true });
  program.addCommand(probeCommand(), { hidden: true });
  return withShortErrors(program);
}

/** After an error in what was typed, a command names its help: in the whole of it, the error would be out of sight. */
function withShortErrors(command: Command, path = command.name()): Command {
  command.showHelpAfterError(`See: ${path} --help`);
  for (const one of command.commands) withShortErrors(one, `${path} ${one.name()}`);
  return command;
}

/** That of the package that this file is in, here as well as in a bundle. */
function version(): string {
  const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}
