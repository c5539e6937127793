// The `konverge` command.
import { resolve } from "node:path";
import { realClock } from "@konverge/core";
import { Command, InvalidArgumentError, Option } from "commander";
import { writeAssets } from "./envtest/assets.ts";
import { runEnvtestApiServer } from "./envtest/envtest-apiserver.ts";
import { down, upInBackground } from "./up/background.ts";
import { notedNames } from "./up/running-clusters.ts";
import { summary } from "./up/summary.ts";
import { type UpOptions, up } from "./up/up.ts";

const program = new Command("konverge")
  .description("Kubernetes operators in TypeScript, and a cluster to run them on.")
  .version("0.1.0")
  .showHelpAfterError();

program
  .command("up")
  .description("start an embedded Kubernetes cluster on a port of this machine")
  .option("--name <name>", "names the cluster and its context", "konverge")
  .option("--port <number>", "port to listen on; any that is free without it", whole, 0)
  .option("--host <address>", "address to listen on", "127.0.0.1")
  .option("--kubeconfig <file>", "write a kubeconfig there; without it a context is added to your own")
  .option("--data <folder>", "keep the cluster's state there; without it, it ends with the process")
  .option("--nodes <number>", "how many nodes without GPUs", whole, 3)
  .option("--gpus <list>", "nodes with GPUs: TYPE=NUMBER or TYPE=NUMBERxNODES, or none", "H100=8x2,A100=8")
  .option("--time-scale <factor>", "let time in the cluster pass that many times as fast", factor, 1)
  .option("--operators <names>", "run operators in it: all, none, or names with commas between them", "none")
  .option("--background", "return when the cluster is ready; end it with `konverge down`")
  .addHelpText("after", "\nWhat is simulated: nodes and containers. Everything that goes through the API is real.")
  .action(async (options: UpOptions & { background?: boolean }) => {
    if (options.background) {
      const args = process.argv.slice(process.argv.indexOf("up") + 1).filter((arg) => arg !== "--background");
      console.log(summary(await upInBackground(options.name, args), true));
      return;
    }
    const started = await up(options);
    console.log(summary(started.noted, false));
    // Whoever started it in the background waits for this.
    process.send?.("ready");
    let ending = false;
    const end = () => {
      // A second signal means now.
      if (ending) process.exit(130);
      ending = true;
      started.stop().then(
        () => process.exit(0),
        (error: unknown) => fail(error),
      );
    };
    process.on("SIGINT", end);
    process.on("SIGTERM", end);
    process.on("SIGHUP", end);
  });

program
  .command("down")
  .description("end a cluster that `konverge up` started")
  .addOption(new Option("--name <name>", "the cluster").default("konverge"))
  .option("--all", "end all of them")
  .action(async ({ name, all }: { name: string; all?: boolean }) => {
    for (const one of all ? notedNames() : [name]) {
      if (await down(one, realClock())) console.log(`cluster ${one} has ended`);
      else console.log(`no cluster named ${one} runs`);
    }
  });

program
  .command("envtest")
  .description("print a folder for KUBEBUILDER_ASSETS, with which envtest suites run on the embedded cluster")
  .option("--controllers", "run the built-in controllers, the scheduler and simulated nodes as well")
  .option("--folder <path>", "where to put it; without it, in your home")
  .addHelpText("after", '\nFor example: KUBEBUILDER_ASSETS="$(konverge envtest)" go test ./...')
  .action(({ controllers = false, folder }: { controllers?: boolean; folder?: string }) => {
    console.log(writeAssets({ controllers, ...(folder !== undefined && { folder: resolve(folder) }) }));
  });

program
  .command("envtest-apiserver", { hidden: true })
  .option("--controllers")
  .argument("[flags...]", "flags of kube-apiserver")
  .action((flags: string[], { controllers = false }: { controllers?: boolean }) =>
    runEnvtestApiServer(flags, controllers),
  );

function whole(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError("it must be a whole number.");
  return Number(text);
}

function factor(text: string): number {
  if (!(Number(text) > 0)) throw new InvalidArgumentError("it must be a number above 0.");
  return Number(text);
}

function fail(error: unknown): never {
  console.error(`konverge: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}

await program.parseAsync().catch(fail);
