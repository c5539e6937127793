import { Command, InvalidArgumentError } from "commander";
import { milliseconds, positive } from "../arguments.ts";
import { recordLoadedModules } from "../explore/code-version.ts";
import type { ExploreCommandOptions } from "../explore/explore-command.ts";
import { outputOption } from "../output-option.ts";
import { stopOnSignals } from "./stop-on-signals.ts";

/** `konverge explore`. */
export function exploreCommand(): Command {
  return new Command("explore")
    .description("run an operator with faults at every point of a scenario, and report what goes wrong")
    .argument("[module]", "module that exports an operator, or a scenario as its default export")
    .option("--command <command>", "shell command that starts an operator in any language, which reads $KUBECONFIG")
    .option(
      "--go <package>",
      "package main of an operator in Go: it is compiled for js/wasm with your Go, and runs on virtual time",
    )
    .option("--wasm <file>", "the same, already compiled with GOOS=js GOARCH=wasm")
    .option(
      "--scenario <file>",
      "with --command, --go and --wasm: YAML file with the steps of the scenario, its CRDs and its invariants",
    )
    .option(
      "--objects <path>",
      "YAML file or folder with what is created (default: a sample of each kind from the project's samples folder, or one that is " +
        "generated from its schema)",
    )
    .option("--time <duration>", "stop after this time, such as 5m (default: no limit)", milliseconds)
    .option("--depth <number>", "faults in a run: 1 tries each one, 2 also random pairs", depth, 1)
    .option("--seed <number>", "which faults and pairs are chosen if not all are tried", positive, 1)
    .option("--faults <families>", "families of faults: a comma-separated list (default: all)")
    .option("--findings <number>", "stop after this many findings", positive, 10)
    .option(
      "--passed <file>",
      "file that keeps the faults which nothing was found with: they are not tried again until the code changes",
    )
    .option(
      "--baseline <file>",
      "JSON file of findings that are accepted: they are not reported, and do not count (default: none)",
    )
    .option("--update-baseline", "write everything that is found to the file of --baseline (default: false)")
    .option("--points <number>", "try at most this many faults (default: all)", positive)
    .option("--only <text>", "only faults whose description contains this text")
    .option(
      "--workers <number>",
      "number of parallel runs, each with its own cluster and process; 1 runs a module in this process, for a debugger " +
        "(default: one for each core, at most 8; with --command, 2)",
      positive,
    )
    .option(
      "--in-cluster",
      "with --command: the operator finds the files and variables of a pod instead of $KUBECONFIG: Linux only (default: false)",
    )
    .option(
      "--idle-after <duration>",
      "with --command: the operator is idle when it has sent nothing for this time (default: 2s)",
      milliseconds,
    )
    .option(
      "--idle-timeout <duration>",
      "with --command: fail if the operator is not idle after this time (default: 1m)",
      milliseconds,
    )
    .option(
      "--results <folder>",
      "write exploration.json, junit.xml and each finding as text and as an HTML page there",
    )
    .addOption(outputOption())
    .addHelpText("after", EXAMPLES)
    .action(async (module: string | undefined, options: ExploreCommandOptions) => {
      const loaded = recordLoadedModules();
      const { exploreFromCommandLine } = await import("../explore/explore-command.ts");
      const signal = stopOnSignals();
      const world = {
        loaded,
        signal,
        print: (text: string) => console.log(text),
        progress: (text: string) => console.error(text),
      };
      if ((await exploreFromCommandLine({ ...options, module }, world)) > 0) process.exitCode = 1;
      // Each program has its own process group and ends with this process, so this one has to exit by itself.
      if (signal.aborted) process.exit(130);
    });
}

function depth(text: string): 1 | 2 {
  if (text !== "1" && text !== "2") throw new InvalidArgumentError("it must be 1 or 2.");
  return text === "1" ? 1 : 2;
}

const EXAMPLES = `
With a module, the operator runs on virtual time: one of each of its kinds is created and deleted, or what the
scenario says is done. With --go or --wasm, an unmodified operator in Go does: its time, its randomness, its files and
its connections are the cluster's. With --command, it runs as a process behind a proxy to an embedded cluster: no containers, and no change of its
code. It is killed and restarted, its requests fail, and its watches are late or expire, one fault in each run. $KONVERGE_WORKER
has the number of the worker, for ports that only one process can have. Each finding is printed as it is found; Ctrl-C ends the
exploration with a report of what was found so far. Exits with 1 if something was found.

Examples:
  konverge explore src/operator.ts
  konverge explore src/operator.ts --objects samples/app.yaml --faults crash,stale
  konverge explore ./scenario.ts --depth 2 --time 2m
  konverge explore --go ./cmd --scenario story.yaml
  konverge explore --command './manager --metrics-bind-address=0' --scenario story.yaml
  konverge explore --command 'kopf run operator.py' --scenario story.yaml --time 5m --results results
  konverge explore --command ./manager --scenario story.yaml --only 'crash after the request, at create configmaps/web'`;
