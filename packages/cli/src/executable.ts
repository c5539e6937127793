// The single executable: the embedded cluster for machines without Node, and the explorer for programs in other languages. Operators
// in TypeScript are modules that users bring, so the commands about them are left to the package.
import { Command } from "commander";
import { clusterCommands, envtestApiServerCommand, envtestCommands } from "./commands/cluster.ts";
import { exploreCommand } from "./commands/explore.ts";
import { imageCommand } from "./commands/image.ts";
import { nodeCommand } from "./commands/node.ts";
import { fail } from "./fail.ts";

/** Set when the executable is built. */
declare const KONVERGE_VERSION: string;

// @ts-expect-error: plain JavaScript, which starts before anything of the cluster is loaded.
if (process.argv[2] === "envtest-etcd") import("../bin/envtest-etcd.js").catch(fail);
else if (process.argv[2] === "explore-worker") import("./explore-worker.ts").catch(fail);
else {
  const program = new Command("konverge")
    .description("An embedded Kubernetes cluster for tests and development.")
    .version(KONVERGE_VERSION)
    .showHelpAfterError();
  const commands = [...clusterCommands(fail), ...envtestCommands(), nodeCommand(), imageCommand(), exploreCommand()];
  for (const command of commands) program.addCommand(command);
  program.addCommand(envtestApiServerCommand(), { hidden: true });
  program.parseAsync().catch(fail);
}
