import { Command } from "commander";
import type { InitOptions } from "../init/init.ts";
import type { Api } from "../init/names.ts";

/** `konverge init` and `konverge create api`. */
export function projectCommands(version: string): Command[] {
  const init = new Command("init")
    .description("create a project: an operator with a kind, tests, a Dockerfile, a Makefile and a CI workflow")
    .argument("<name>", "folder to create, and the name of the operator")
    .option("--domain <domain>", "domain of its API groups", "example.com")
    .option("--group <group>", "API group of its first kind (default: the domain)", "")
    .option("--version <version>", "API version of its first kind", "v1alpha1")
    .option("--kind <kind>", "its first kind", "Greeting")
    .option("--packages <folder>", "folder with tarballs of Konverge's packages (default: the npm registry)")
    .option("--no-install", "do not run npm install")
    .addHelpText("after", "\nFor example: npx konverge init cache-operator --domain example.com --kind Cache")
    .action(async (name: string, options: Omit<InitOptions, "ownVersion" | "tell">) => {
      const { init: start } = await import("../init/init.ts");
      start(name, { ...options, ownVersion: version, tell: (text) => console.log(text) });
    });
  const api = new Command("api")
    .description("add a kind with its controller, tests and a sample to the project")
    .requiredOption("--group <group>", "API group: a domain, or a word that is prefixed to the project's domain")
    .requiredOption("--version <version>", "API version, such as v1alpha1")
    .requiredOption("--kind <kind>", "name of the kind: a singular noun in CamelCase")
    .addHelpText("after", "\nFor example: npx konverge create api --group ml --version v1alpha1 --kind TrainingJob")
    .action(async (options: Api) => {
      const { createApi } = await import("../init/create-api.ts");
      createApi(options, process.cwd(), (text) => console.log(text));
    });
  const create = new Command("create")
    .description("add to a project; existing files are not overwritten")
    .addCommand(api);
  return [init, create];
}
