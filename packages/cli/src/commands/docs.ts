import { Command } from "commander";
import { chosenOperators, loadOperators } from "../operators/operator-modules.ts";
import { CHECK_OPTION, writeFiles } from "./write-files.ts";

interface DocsOptions {
  readonly output: string;
  readonly check?: boolean;
  readonly operators?: string;
}

/** `konverge docs` */
export function docsCommand(): Command {
  return new Command("docs")
    .description("write the API reference of operators' kinds in Markdown: fields, types, defaults and validation")
    .argument("[modules...]", "modules that export operators (default: those of this project, or all of Konverge's)")
    .option("--output <folder>", "where to write", "docs/api")
    .option(...CHECK_OPTION)
    .option("--operators <names>", "all, or a comma-separated list of names")
    .addHelpText(
      "after",
      `
Examples:
  npx konverge docs
  npx konverge docs src/operator.ts --output docs/reference --check`,
    )
    .action(async (modules: string[], options: DocsOptions) => {
      const { kindPages } = await import("../kind-docs/kind-pages.ts");
      const operators = chosenOperators(await loadOperators(modules), options.operators);
      await writeFiles("docs", options, kindPages(operators));
    });
}
