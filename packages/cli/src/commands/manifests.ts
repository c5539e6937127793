import { Command } from "commander";
import { DEFAULT_NAMESPACE } from "../manifests/defaults.ts";
import type { WebhookAuthority } from "../manifests/webhook-authority.ts";
import { chosenOperators, loadOperators } from "../operators/operator-modules.ts";
import { checkFlags, openArguments, settingsHelp } from "../operators/settings.ts";
import { IMAGE_OPTION, imageOf, PULL_SECRET_OPTION } from "./image-option.ts";
import { NAMESPACED_OPTION, webhookCaOption } from "./reach-options.ts";
import { CHECK_OPTION, writeFiles } from "./write-files.ts";

interface ManifestsOptions {
  readonly output: string;
  readonly check?: boolean;
  readonly image?: string;
  readonly namespace: string;
  readonly operators?: string;
  readonly webhookCa?: WebhookAuthority;
  readonly namespaced?: readonly string[];
  readonly imagePullSecret?: readonly string[];
}

/** `konverge manifests` */
export function manifestsCommand(): Command {
  return new Command("manifests")
    .description(
      "write the CRDs, RBAC, webhooks and Deployments of operators as kustomize bases, and JSON schemas for editors",
    )
    .argument("[modules...]", "modules that export operators (default: those of this project, or all of Konverge's)")
    .option("--output <folder>", "where to write", "config")
    .option(...CHECK_OPTION)
    .option(...IMAGE_OPTION)
    .addOption(webhookCaOption())
    .option(...NAMESPACED_OPTION)
    .option(...PULL_SECRET_OPTION)
    .option("--namespace <name>", "namespace that the operators run in", DEFAULT_NAMESPACE)
    .option("--operators <names>", "all, or a comma-separated list of names")
    .allowUnknownOption()
    .addHelpText(
      "after",
      `${settingsHelp("manifests")}
Examples:
  npx konverge manifests --image registry.example.com/notes:v1 --namespace notes
  npx konverge manifests --image registry.example.com/notes:v1 --namespace notes --check
  kubectl apply -k config/note-operator`,
    )
    .action(async (_modules: string[], options: ManifestsOptions, { args }: Command) => {
      const { manifestFiles } = await import("../manifests/files.ts");
      const { modules, flags } = openArguments(args);
      const operators = chosenOperators(await loadOperators(modules), options.operators);
      const settings = { flags: checkFlags(operators, flags, "manifests"), env: process.env };
      const image = await imageOf(operators, options.image, "manifests");
      const imagePullSecrets = options.imagePullSecret ?? [];
      const files = manifestFiles(operators, { ...options, image, imagePullSecrets, settings });
      await writeFiles("manifests", options, files);
    });
}
