import { basename } from "node:path";
import { Command } from "commander";
import { port, whole } from "../arguments.ts";
import type { DevOptions } from "../dev/dev.ts";
import { permissionsOption } from "../run/run-command.ts";
import { stopOnSignals, stopWithNpm } from "./stop-on-signals.ts";

/** The port of Node's own `--inspect`. */
const INSPECTOR = 9229;

/** `konverge dev` */
export function devCommand(): Command {
  return new Command("dev")
    .description(
      "develop: an embedded cluster, your operators on it, restarted by each change, your samples, and a live view",
    )
    .argument("[modules...]", "modules that export operators (default: those of this project)")
    .option("--name <name>", "name of the cluster (default: that of the project)")
    .option("--kubeconfig <file>", "write the context to this file", ".konverge/kubeconfig")
    .option("--data <folder>", "keep the cluster's state in this folder (default: in memory)")
    .option("--nodes <number>", "number of simulated nodes without GPUs", whole, 3)
    .option("--gpus <list>", "simulated nodes with GPUs: TYPE=NUMBER or TYPE=NUMBERxNODES, or none", "H100=8x2,A100=8")
    .option("--samples <folder>", "apply the objects in this folder, again when they change", "samples")
    .addOption(permissionsOption())
    .option("--no-console", "do not serve the console")
    .option("--inspect [port]", `let a debugger connect to this port of this machine (default: ${INSPECTOR})`, port)
    .allowUnknownOption()
    .addHelpText(
      "after",
      `
For example: npx konverge dev
             npx konverge dev --inspect --samples config/samples
Settings of operators are options too, as in konverge run. In a pipe it prints lines instead of the live view.`,
    )
    .action(async (_modules: string[], options: DevFlags, self: Command) => {
      const { dev } = await import("../dev/dev.ts");
      const { findProject } = await import("../init/project.ts");
      const project = findProject(process.cwd());
      const folder = project?.folder ?? process.cwd();
      const { inspect, name = project?.name ?? basename(folder), ...rest } = options;
      if (inspect !== undefined) await openInspector(inspect === true ? INSPECTOR : inspect);
      const stop = AbortSignal.any([stopOnSignals(), stopWithNpm()]);
      const world = { folder, env: process.env, stop, screen: process.stdout };
      await dev(self.args, { ...rest, name }, world);
      // Versions of operators that were replaced may have left timers behind.
      process.exit(0);
    });
}

type DevFlags = Omit<DevOptions, "name"> & { name?: string; inspect?: number | true };

async function openInspector(on: number): Promise<void> {
  const inspector = await import("node:inspector");
  inspector.open(on, "127.0.0.1");
  console.log(`A debugger can connect to ${inspector.url()}`);
}
