// The `konverge` command. Each command loads what it needs when it runs: an operator in production loads no cluster.
import { Command } from "commander";
import { clusterCommands, envtestApiServerCommand, envtestCommands } from "./commands/cluster.ts";
import { deployCommands } from "./commands/deploy.ts";
import { manifestsCommand } from "./commands/manifests.ts";
import { replayCommand } from "./commands/replay.ts";
import { runCommand } from "./commands/run.ts";
import { stopOnSignals } from "./commands/stop-on-signals.ts";
import { UsageError } from "./usage-error.ts";

const program = new Command("konverge")
  .description("Kubernetes operators in TypeScript, and a cluster to run them on.")
  .version("0.1.0")
  .showHelpAfterError();
for (const command of clusterCommands(fail)) program.addCommand(command);
program.addCommand(runCommand(() => ({ env: process.env, stop: stopOnSignals() })));
program.addCommand(manifestsCommand());
program.addCommand(replayCommand());
for (const command of [...deployCommands(), ...envtestCommands()]) program.addCommand(command);
program.addCommand(envtestApiServerCommand(), { hidden: true });

function fail(error: unknown): never {
  const isPlain = error instanceof UsageError || process.env["KONVERGE_DEBUG"] === undefined;
  console.error(`konverge: ${error instanceof Error ? (isPlain ? error.message : error.stack) : String(error)}`);
  process.exit(1);
}

await program.parseAsync().catch(fail);
