import { Command } from "commander";
import type { InitOptions } from "../init/init.ts";
import type { Api } from "../init/names.ts";

/** `konverge init` and `konverge create api`. */
export function projectCommands(version: string): Command[] {
  const init = new Command("init")
    .description("start a project: an operator with a kind, tests, a Dockerfile, a Makefile and a CI workflow")
    .argument("<name>", "the folder to write, which also names the operator")
    .option("--domain <domain>", "the domain of the groups of its kinds", "example.com")
    .option("--group <group>", "the group of its first kind; without it, the domain", "")
    .option("--version <version>", "the version of its first kind", "v1alpha1")
    .option("--kind <kind>", "its first kind", "Greeting")
    .option(
      "--packages <folder>",
      "take Konverge's packages from tarballs in that folder; without it, from the registry",
    )
    .option("--no-install", "do not run npm install")
    .addHelpText("after", "\nFor example: npx konverge init cache-operator --domain example.com --kind Cache")
    .action(async (name: string, options: Omit<InitOptions, "ownVersion" | "tell">) => {
      const { init: start } = await import("../init/init.ts");
      start(name, { ...options, ownVersion: version, tell: (text) => console.log(text) });
    });
  const api = new Command("api")
    .description("add a kind with its controller, tests and a sample to the project")
    .requiredOption("--group <group>", "its group: a domain, or a word that is put before the project's domain")
    .requiredOption("--version <version>", "its version, such as v1alpha1")
    .requiredOption("--kind <kind>", "its name: a singular noun in CamelCase")
    .addHelpText("after", "\nFor example: npx konverge create api --group ml --version v1alpha1 --kind TrainingJob")
    .action(async (options: Api) => {
      const { createApi } = await import("../init/create-api.ts");
      createApi(options, process.cwd(), (text) => console.log(text));
    });
  const create = new Command("create")
    .description("add to a project; nothing that is there is overwritten")
    .addCommand(api);
  return [init, create];
}
