import type { LogLevel } from "@konverge/runtime";
import { Command, Option } from "commander";
import { port } from "../arguments.ts";
import { parseAddress } from "../operators/address.ts";
import { outputOption } from "../output-option.ts";
import type { RunOptions, RunWorld } from "./run-operators.ts";

/** Written down here, since the help of other commands must not load the runtime. */
const LEVELS: readonly LogLevel[] = ["trace", "debug", "info", "warn", "error", "silent"];

/** `konverge run`. */
export function runCommand(world: () => RunWorld): Command {
  const command = new Command("run")
    .description("run operators in this process, on the cluster of your kubeconfig or of this pod")
    .argument("[modules...]", "modules that export operators (default: those of this project, or all of Konverge's)");
  addPodOptions(command);
  return command
    .option("--install", "install the operators' CRDs first")
    .option("--watch", "for development: restart when the module or a file beside it changes")
    .addOption(permissionsOption())
    .option("--dry-run", "print every write that the operators would make, make none, and end when they are idle")
    .addOption(outputOption("of --dry-run"))
    .option("--record <file>", "write every reconcile to this file, for `konverge replay`")
    .option(
      "--webhook-certificates <folder>",
      "folder of tls.crt and tls.key; the webhooks are not registered: another tool sets their CA (default: a built-in authority)",
    )
    .option(
      "--webhook-host <address>",
      "outside a pod: address at which the API server reaches this machine; nothing else is listened on if this machine has it",
    )
    .option(
      "--kubeconfig <file>",
      "kubeconfig file (default: $KUBECONFIG, the pod's service account or ~/.kube/config)",
    )
    .option("--context <name>", "context of the kubeconfig (default: the current one)")
    .addHelpText(
      "after",
      "\nFor example: npx konverge run --install --watch\n             npx konverge run --dry-run --output json\n\nSettings of operators are options too: konverge run --natsAddr=nats://nats:4222\nCtrl-C waits for reconciles in progress; a second Ctrl-C does not.",
    )
    .action(async (_modules: string[], options: RunOptions, self: Command) => {
      const { runOperators } = await import("./run-operators.ts");
      await runOperators(self.args, options, world());
    });
}

/** Whose permissions operators have that run outside of a pod. */
export function permissionsOption(): Option {
  return new Option(
    "--permissions <whose>",
    "permissions of the operators: of their generated role, or of the kubeconfig's user; auto: generated on an embedded cluster",
  )
    .choices(["auto", "generated", "kubeconfig"])
    .default("auto");
}

/**
 * Adds the options that say nothing about the machine: those that any pod can set. Settings of operators
 * are options too, so unknown ones are not refused here.
 */
export function addPodOptions(command: Command): Command {
  return command
    .option("--operators <names>", "all, or a comma-separated list of names (default: $OPERATORS)")
    .option("--namespace <names>", "watch only these namespaces: a comma-separated list (default: all)")
    .option(
      "--namespaced <names>",
      "run with Roles in these namespaces: watch only them, and no cluster-scoped kinds (default: ClusterRoles)",
    )
    .option("--leader-elect", "run one active replica at a time, with a lease for each operator")
    .addOption(new Option("--log-level <level>", "what is logged (default: $LOG_LEVEL or info)").choices(LEVELS))
    .addOption(
      new Option("--metrics-bind-address <address>", "address of /metrics: ADDRESS:PORT, or 0 to disable it")
        .argParser(parseAddress)
        .default(parseAddress(":8080"), ":8080"),
    )
    .addOption(
      new Option(
        "--health-probe-bind-address <address>",
        "address of /healthz and /readyz: ADDRESS:PORT, or 0 to disable them",
      )
        .argParser(parseAddress)
        .default(parseAddress(":8081"), ":8081"),
    )
    .addOption(
      new Option("--webhooks <mode>", "serve webhooks; auto: only in a pod")
        .choices(["auto", "on", "off"])
        .default("auto"),
    )
    .option("--webhook-port <number>", "port of the webhooks; each further operator uses the next port", port, 9443)
    .allowUnknownOption();
}
