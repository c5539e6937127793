import { Command } from "commander";
import type { WebhookAuthority } from "../manifests/webhook-authority.ts";
import { chosenOperators, loadOperators } from "../operators/operator-modules.ts";
import { checkFlags, openArguments, settingsHelp } from "../operators/settings.ts";
import { IMAGE_OPTION, imageOf } from "./image-option.ts";
import { NAMESPACED_OPTION, webhookCaOption } from "./reach-options.ts";
import { CHECK_OPTION, writeFiles } from "./write-files.ts";

interface ChartCommandOptions {
  readonly output: string;
  readonly check?: boolean;
  readonly image?: string;
  readonly chartVersion?: string;
  readonly operators?: string;
  readonly webhookCa?: WebhookAuthority;
  readonly namespaced?: readonly string[];
}

/** `konverge chart` */
export function chartCommand(): Command {
  return new Command("chart")
    .description("write a Helm chart of each operator")
    .argument("[modules...]", "modules that export operators (default: those of this project, or all of Konverge's)")
    .option("--output <folder>", "where to write", "charts")
    .option(...CHECK_OPTION)
    .option(...IMAGE_OPTION)
    .addOption(webhookCaOption())
    .option(...NAMESPACED_OPTION)
    .option("--chart-version <version>", "version of the charts (default: the version in package.json, or 0.1.0)")
    .option("--operators <names>", "all, or a comma-separated list of names")
    .allowUnknownOption()
    .addHelpText(
      "after",
      `${settingsHelp("chart")}
They are the defaults of the chart's values, and its roles are for them.
Examples:
  npx konverge chart --image registry.example.com/notes:v1
  npx konverge chart --image registry.example.com/notes:v1 --check
  helm install notes charts/note-operator --namespace notes --create-namespace --wait
  helm test notes --namespace notes`,
    )
    .action(async (_modules: string[], options: ChartCommandOptions, { args }: Command) => {
      const { chartFiles } = await import("../chart/chart-files.ts");
      const { projectVersion } = await import("../operators/project-version.ts");
      const { modules, flags } = openArguments(args);
      const operators = chosenOperators(await loadOperators(modules), options.operators);
      const settings = { flags: checkFlags(operators, flags, "chart"), env: process.env };
      const image = await imageOf(operators, options.image, "chart");
      const { webhookCa, namespaced } = options;
      const reach = { ...(webhookCa && { webhookCa }), ...(namespaced && { namespaced }) };
      const version = options.chartVersion ?? projectVersion();
      await writeFiles("chart", options, chartFiles(operators, { image, version, settings, ...reach }));
    });
}
