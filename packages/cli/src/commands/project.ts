import { Command } from "commander";
import type { ImportOptions } from "../import/import-crd.ts";
import type { NewVersion } from "../init/create-version.ts";
import type { InitOptions } from "../init/init.ts";
import type { Api } from "../init/names.ts";

const tell = (text: string) => console.log(text);

/** `konverge init`, `konverge create` and `konverge import`. */
export function projectCommands(version: string): Command[] {
  const init = new Command("init")
    .description("create a project: an operator with a kind, tests, a Dockerfile, a Makefile and a CI workflow")
    .argument("<name>", "folder to create, and the name of the operator")
    .option("--domain <domain>", "domain of its API groups", "example.com")
    .option("--group <group>", "API group of its first kind (default: the domain)", "")
    .option("--version <version>", "API version of its first kind", "v1alpha1")
    .option("--kind <kind>", "its first kind (default: Greeting, or named after the chart)")
    .option("--no-kind", "begin without a kind: add one with konverge create api")
    .option(
      "--helm <chart>",
      "make the operator of a Helm chart: a folder or a .tgz file, which is copied into the project",
    )
    .option("--packages <folder>", "folder with tarballs of Konverge's packages (default: the npm registry)")
    .option("--no-install", "do not run npm install")
    .addHelpText(
      "after",
      "\nFor example: npx konverge init cache-operator --domain example.com --kind Cache\n             npx konverge init web-operator --helm ./charts/web",
    )
    .action(async (name: string, options: Omit<InitOptions, "ownVersion" | "path" | "tell">) => {
      const { init: start } = await import("../init/init.ts");
      start(name, { ...options, path: process.env["PATH"], ownVersion: version, tell });
    });
  const api = new Command("api")
    .description("add a kind with its controller, tests and a sample to the project")
    .requiredOption("--group <group>", "API group: a domain, or a word that is prefixed to the project's domain")
    .requiredOption("--version <version>", "API version, such as v1alpha1")
    .requiredOption("--kind <kind>", "name of the kind: a singular noun in CamelCase")
    .addHelpText("after", "\nFor example: npx konverge create api --group ml --version v1alpha1 --kind TrainingJob")
    .action(async (options: Api) => {
      const { createApi } = await import("../init/create-api.ts");
      createApi(options, process.cwd(), tell);
    });
  const newVersion = new Command("version")
    .description("add a version to a kind of the project, with a conversion and a test that nothing is lost in it")
    .requiredOption("--kind <kind>", "the kind: one that src/KIND.ts of the project defines")
    .requiredOption(
      "--version <version>",
      "API version to add, such as v1beta1; it begins with the fields of the stored one",
    )
    .addHelpText("after", "\nFor example: npx konverge create version --kind TrainingJob --version v1beta1")
    .action(async (options: NewVersion) => {
      const { createVersion } = await import("../init/create-version.ts");
      await createVersion(options, process.cwd(), tell);
    });
  const webhook = new Command("webhook")
    .description("add an admission webhook for a kind of the project, with its test")
    .requiredOption("--kind <kind>", "the kind: one that src/KIND.ts of the project defines")
    .option("--defaulting", "it changes objects before they are stored (default: it does both)")
    .option("--validation", "it refuses objects, or warns about them (default: it does both)")
    .addHelpText("after", "\nFor example: npx konverge create webhook --kind TrainingJob --validation")
    .action(async ({ kind, ...given }: { kind: string; defaulting?: boolean; validation?: boolean }) => {
      const { createWebhook } = await import("../init/create-webhook.ts");
      const isOpen = !given.defaulting && !given.validation;
      const { defaulting = isOpen, validation = isOpen } = given;
      await createWebhook({ kind, defaulting, validation }, process.cwd(), tell);
    });
  const create = new Command("create")
    .description("add to a project; existing files are not overwritten")
    .addCommand(api)
    .addCommand(newVersion)
    .addCommand(webhook);
  return [init, create, importCommand()];
}

function importCommand(): Command {
  const crd = new Command("crd")
    .description("write a TypeScript definition from a CRD: types, bounds, enums and rules; differences are listed")
    .argument("[file]", "YAML with CRDs; - reads standard input")
    .option("--from-cluster <name>", "name of a CRD of the cluster, such as trainingjobs.ml.example.com")
    .option("--folder <path>", "folder to write to (default: src of the project, or the current folder)")
    .option("--kubeconfig <file>", "kubeconfig file (default: $KUBECONFIG or ~/.kube/config)")
    .option("--context <name>", "context of the kubeconfig (default: the current one)")
    .addHelpText(
      "after",
      "\nFor example: npx konverge import crd widgets.yaml\n             npx konverge import crd --from-cluster certificates.cert-manager.io",
    )
    .action(async (file: string | undefined, options: ImportOptions) => {
      const { importCrds } = await import("../import/import-crd.ts");
      await importCrds(file, options, process.cwd(), tell);
    });
  return new Command("import").description("write definitions from what exists").addCommand(crd);
}
