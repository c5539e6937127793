import { Command, Option } from "commander";
import { port } from "../arguments.ts";
import { parseAddress } from "../operators/address.ts";
import type { RunOptions, RunWorld } from "./run-operators.ts";

/** `konverge run`. */
export function runCommand(world: () => RunWorld): Command {
  const command = new Command("run")
    .description("run operators, here, against the cluster of your kubeconfig or the one this pod is in")
    .argument(
      "[modules...]",
      "modules that export operators; without any, those of this project, or all of Konverge's",
    );
  addPodOptions(command);
  return command
    .option("--install", "install the operators' kinds first")
    .option("--watch", "for development: run the module anew when it, or a file beside it, changes")
    .option("--record <file>", "write every reconcile there, to be put to other code by `konverge replay`")
    .option("--webhook-host <address>", "outside a pod: where the API server reaches this machine")
    .option("--kubeconfig <file>", "which kubeconfig; without it $KUBECONFIG, the pod's own identity, ~/.kube/config")
    .option("--context <name>", "which context of it")
    .addHelpText(
      "after",
      "\nOperators' own settings are options too: konverge run --natsAddr=nats://nats:4222\nCtrl-C finishes the work in progress; a second one does not.",
    )
    .action(async (_modules: string[], options: RunOptions, self: Command) => {
      const { runOperators } = await import("./run-operators.ts");
      await runOperators(self.args, options, world());
    });
}

/**
 * Adds the options that say nothing about the machine: those that any pod can set. Settings of operators
 * are options too, so unknown ones are not refused here.
 */
export function addPodOptions(command: Command): Command {
  return command
    .option("--operators <names>", "all, or names with commas between them (or $OPERATORS)")
    .option("--namespace <names>", "look after these namespaces only; names with commas between them")
    .option("--leader-elect", "let one of several replicas act at a time, by a lease for each operator")
    .option("--verbose", "log at level debug; without it at the level in $LOG_LEVEL, or info")
    .addOption(
      new Option("--metrics-bind-address <address>", "where to serve /metrics: ADDRESS:PORT, or 0 for nowhere")
        .argParser(parseAddress)
        .default(parseAddress(":8080"), ":8080"),
    )
    .addOption(
      new Option(
        "--health-probe-bind-address <address>",
        "where to answer /healthz and /readyz: ADDRESS:PORT, or 0 for nowhere",
      )
        .argParser(parseAddress)
        .default(parseAddress(":8081"), ":8081"),
    )
    .addOption(
      new Option("--webhooks <mode>", "serve webhooks: auto is on in a pod, off outside")
        .choices(["auto", "on", "off"])
        .default("auto"),
    )
    .option("--webhook-port <number>", "where webhooks listen; each further operator takes the next one", port, 9443)
    .allowUnknownOption();
}
