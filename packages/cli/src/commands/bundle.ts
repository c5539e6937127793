import { existsSync } from "node:fs";
import { Command, Option } from "commander";
import { type BundleOptions, CAPABILITIES } from "../bundle/cluster-service-version.ts";
import { chosenOperators, loadOperators } from "../operators/operator-modules.ts";
import { checkFlags, openArguments, settingsHelp } from "../operators/settings.ts";
import { UsageError } from "../usage-error.ts";
import { IMAGE_OPTION, imageOf } from "./image-option.ts";
import { CHECK_OPTION, writeFiles } from "./write-files.ts";

interface BundleCommandOptions extends Omit<BundleOptions, "image" | "version" | "samples"> {
  readonly output: string;
  readonly check?: boolean;
  readonly image?: string;
  readonly bundleVersion?: string;
  readonly samples?: readonly string[];
  readonly operators?: string;
}

/** `konverge bundle` */
export function bundleCommand(): Command {
  return new Command("bundle")
    .description("write an OLM bundle of each operator, and check it as scorecard does")
    .argument("[modules...]", "modules that export operators (default: those of this project, or all of Konverge's)")
    .option("--output <folder>", "where to write", "bundle")
    .option(...CHECK_OPTION)
    .option(...IMAGE_OPTION)
    .option("--bundle-version <version>", "version of the bundles (default: the version in package.json, or 0.1.0)")
    .option("--replaces <version>", "version that this one replaces in its channel")
    .option("--channel <name>", "channel of the bundles", "alpha")
    .option("--namespace <name>", "namespace that is suggested to users (default: the operator's name)")
    .option("--provider <name>", "person or company that provides the operators")
    .addOption(
      new Option("--capability-level <level>", "level of the operators' capabilities")
        .choices(CAPABILITIES)
        .default(CAPABILITIES[0]),
    )
    .option(
      "--samples <path>",
      "file or folder with samples of the kinds; repeatable (default: samples)",
      (path: string, before: readonly string[] = []): readonly string[] => [...before, path],
    )
    .option("--operators <names>", "all, or a comma-separated list of names")
    .allowUnknownOption()
    .addHelpText(
      "after",
      `${settingsHelp("bundle")}
Examples:
  npx konverge bundle --image registry.example.com/notes:v1 --provider "Example Inc."
  npx konverge bundle --image registry.example.com/notes:v1 --bundle-version 1.1.0 --replaces 1.0.0
  docker build --file bundle/note-operator/bundle.Dockerfile --tag registry.example.com/notes-bundle:v1 bundle/note-operator`,
    )
    .action(async (_modules: string[], given: BundleCommandOptions, { args }: Command) => {
      const { bundleFiles } = await import("../bundle/bundle-files.ts");
      const { bundleFindings } = await import("../bundle/bundle-checks.ts");
      const { readSamples } = await import("../bundle/read-samples.ts");
      const { projectVersion } = await import("../operators/project-version.ts");
      const { modules, flags } = openArguments(args);
      const operators = chosenOperators(await loadOperators(modules), given.operators);
      const settings = { flags: checkFlags(operators, flags, "bundle"), env: process.env };
      const paths = given.samples ?? (existsSync("samples") ? ["samples"] : []);
      const options = {
        ...given,
        image: await imageOf(operators, given.image, "bundle"),
        version: given.bundleVersion ?? projectVersion(),
        samples: readSamples(paths),
        settings,
      };
      const findings = bundleFindings(operators, options);
      for (const { level, operator, message } of findings) console.error(`${level}: ${operator}: ${message}`);
      if (findings.some(({ level }) => level === "error"))
        throw new UsageError("the bundle is not valid: fix the errors above and run it again");
      await writeFiles("bundle", given, bundleFiles(operators, options));
    });
}
