import type { Client } from "@konverge/client";
import type { Operator } from "@konverge/runtime";
import { Command } from "commander";
import { whole } from "../arguments.ts";
import type { ObjectChange } from "../deploy/apply-objects.ts";
import { DEFAULT_IMAGE, DEFAULT_NAMESPACE } from "../manifests/defaults.ts";
import type { WebhookAuthority } from "../manifests/webhook-authority.ts";
import { chosenOperators, loadOperators } from "../operators/operator-modules.ts";
import { checkFlags, openArguments, type SettingSources, settingsHelp } from "../operators/settings.ts";
import { type Output, outputOption } from "../output-option.ts";
import { confirm } from "./confirm.ts";
import { IMAGE_OPTION, imageOf, PULL_SECRET_OPTION } from "./image-option.ts";
import { NAMESPACED_OPTION, webhookCaOption } from "./reach-options.ts";

interface SharedOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace: string;
  readonly operators?: string;
  readonly image?: string;
  readonly imagePullSecret?: readonly string[];
  readonly dryRun?: boolean;
  readonly timeout: number;
  readonly classicRole?: boolean;
  readonly webhookCa?: WebhookAuthority;
  readonly namespaced?: readonly string[];
  readonly wait: boolean;
  readonly force?: boolean;
  readonly output: Output;
}

const REPLACE = "also replace CRDs that another operator installed";

/** `konverge install`, `uninstall`, `deploy` and `undeploy`. */
export function deployCommands(): Command[] {
  return [
    command("install", "install the CRDs of operators and wait until the cluster serves them", [
      "npx konverge install",
      "npx konverge install --context staging --dry-run",
    ])
      .option("--force", REPLACE)
      .action(
        onCluster(async (operators, client, options) => {
          const { install } = await import("../deploy/install.ts");
          await install(operators, client, options);
        }),
      ),
    command("uninstall", "remove the CRDs of operators and all their objects", [
      "npx konverge uninstall --dry-run",
      "npx konverge uninstall --force",
    ])
      .option("--force", "remove them even if objects of these kinds exist; the objects are lost")
      .action(
        onCluster(async (operators, client, options) => {
          const { uninstall } = await import("../deploy/uninstall.ts");
          await uninstall(operators, client, {
            ...options,
            ...(process.stdin.isTTY &&
              options.output === "text" && { confirm: () => confirm("Remove them? Type yes: ") }),
          });
        }),
      ),
    command("deploy", "deploy operators with their CRDs, RBAC and webhooks, and wait until they are available", [
      "npx konverge deploy --image registry.example.com/notes:v1 --namespace notes",
      "npx konverge deploy --image registry.example.com/notes:v1 --namespace notes --dry-run --output json",
    ])
      .option(...IMAGE_OPTION)
      .option(...PULL_SECRET_OPTION)
      .addOption(webhookCaOption())
      .option(...NAMESPACED_OPTION)
      .option("--classic-role", "also grant every verb on their kinds and children, as scaffolded roles do")
      .option("--force", REPLACE)
      .option("--no-wait", "return without waiting for the Deployments")
      .action(
        onCluster(async (operators, client, { wait, ...options }) => {
          const { deploy } = await import("../deploy/deploy.ts");
          const { hasSimulatedNodesOnly } = await import("../deploy/simulated-nodes.ts");
          // The embedded cluster runs the operators that it was started with under this name.
          const known = (await hasSimulatedNodesOnly(client)) ? DEFAULT_IMAGE : undefined;
          const image = await imageOf(operators, options.image ?? known, "deploy");
          const imagePullSecrets = options.imagePullSecret ?? [];
          await deploy(operators, client, { ...options, image, imagePullSecrets, noWait: !wait });
        }),
      ),
    command("undeploy", "remove the Deployments of operators, their RBAC and webhooks; CRDs and objects stay", [
      "npx konverge undeploy --namespace notes",
    ])
      .option(...NAMESPACED_OPTION)
      .action(
        onCluster(async (operators, client, options) => {
          const { undeploy } = await import("../deploy/deploy.ts");
          await undeploy(operators, client, { ...options, image: DEFAULT_IMAGE });
        }),
      ),
  ];
}

function command(name: string, description: string, examples: readonly string[]): Command {
  return new Command(name)
    .description(description)
    .argument("[modules...]", "modules that export operators (default: those of this project, or all of Konverge's)")
    .option("--operators <names>", "all, or a comma-separated list of names")
    .option("--namespace <name>", "namespace that the operators run in", DEFAULT_NAMESPACE)
    .option("--dry-run", "only show what would change, as the cluster reports it")
    .option("--timeout <seconds>", "how long to wait", whole, 180)
    .addOption(outputOption())
    .option("--kubeconfig <file>", "kubeconfig file (default: $KUBECONFIG or ~/.kube/config)")
    .option("--context <name>", "context of the kubeconfig (default: the current one)")
    .allowUnknownOption()
    .addHelpText(
      "after",
      `${settingsHelp(name)}
With --output json, standard output has what became of each object, also if the command then fails.
Examples:
${examples.map((one) => `  ${one}`).join("\n")}`,
    );
}

type Work = (
  operators: readonly Operator[],
  client: Client,
  options: Omit<SharedOptions, "operators"> & { settings: SettingSources; tell: Tell },
) => Promise<void>;

type Tell = (text: string, change?: ObjectChange) => void;

function onCluster(work: Work) {
  return async (_modules: string[], given: SharedOptions, command: Command) => {
    const { operators: names, ...options } = given;
    const { modules, flags } = openArguments(command.args);
    const operators = chosenOperators(await loadOperators(modules), names);
    const settings = { flags: checkFlags(operators, flags, command.name()), env: process.env };
    const { connectToCluster } = await import("../cluster-connection.ts");
    const client = await connectToCluster(options);
    const changes: ObjectChange[] = [];
    const collect: Tell = (text, change) => (change ? void changes.push(change) : console.error(text));
    const tell: Tell = options.output === "json" ? collect : (text) => console.log(text);
    try {
      const { reportAbandoned } = await import("../run/run-registrations.ts");
      await reportAbandoned(client, (text) => console.warn(`warning: ${text}`));
      await work(operators, client, { ...options, settings, timeout: options.timeout * 1000, tell });
    } finally {
      if (options.output === "json")
        console.log(JSON.stringify({ dryRun: options.dryRun ?? false, objects: changes }, undefined, 2));
      await client.close();
    }
  };
}
