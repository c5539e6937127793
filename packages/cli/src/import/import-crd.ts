import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { isNotFound } from "@konverge/core";
import { CustomResourceDefinition } from "@konverge/kinds";
import { type CrdObject, crdsFromYaml } from "@konverge/schema";
import { type ClusterChoice, connectToCluster } from "../cluster-connection.ts";
import { definitionDifferences } from "../definition/definition-differences.ts";
import { definitionSource } from "../definition/definition-source.ts";
import { fileName } from "../init/names.ts";
import { writeNewFiles } from "../init/new-files.ts";
import { findProject } from "../init/project.ts";
import { UsageError } from "../usage-error.ts";

export interface ImportOptions extends ClusterChoice {
  /** The name of a CRD of the cluster, in place of a file. */
  readonly fromCluster?: string;
  /** Where definitions are written. Default: src/ of the project, or the current folder. */
  readonly folder?: string;
}

/** Writes a TypeScript definition for each CRD of a file or for one of a cluster, and says how it differs from the CRD. */
export async function importCrds(
  file: string | undefined,
  options: ImportOptions,
  from: string,
  tell: (text: string) => void,
): Promise<void> {
  if ((file === undefined) === (options.fromCluster === undefined)) {
    throw new UsageError("name either a file with CRDs or, with --from-cluster, a CRD of the cluster");
  }
  const crds = file === undefined ? [await clusterCrd(options.fromCluster!, options)] : fileCrds(file);
  const project = findProject(from);
  const base = project?.folder ?? resolve(from);
  const folder = resolve(from, options.folder ?? (project ? join(base, "src") : "."));
  for (const crd of crds) {
    const path = join(relative(base, folder), `${fileName(crd.spec.names.kind)}.ts`);
    const target = join(base, path);
    const { text, notes } = definitionSource(crd);
    if (existsSync(target) && readFileSync(target, "utf8") !== text) {
      throw new UsageError(`${path} exists, and is not overwritten: move it, or choose another folder with --folder`);
    }
    writeNewFiles(base, new Map([[path, text]]), tell);
    for (const note of notes) tell(`  ${note}`);
    for (const text of await differences(target, crd)) tell(`  ${text}`);
  }
  const names = crds.map(({ spec }) => spec.names.kind).join(", ");
  if (project) tell(`If this operator installs ${names}, add it to kinds in src/apis.ts; otherwise use it as it is.`);
}

function fileCrds(file: string): CrdObject[] {
  let text: string;
  try {
    text = readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  const crds = crdsFromYaml(text);
  if (crds.length > 0) return crds;
  throw new UsageError(`there is no CustomResourceDefinition (apiextensions.k8s.io/v1) in ${file}`);
}

async function clusterCrd(name: string, choice: ClusterChoice): Promise<CrdObject> {
  await using client = await connectToCluster(choice);
  try {
    return (await client.get(CustomResourceDefinition, name)) as unknown as CrdObject;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new UsageError(
      `the cluster has no CRD ${name}: its name is PLURAL.GROUP, as in trainingjobs.ml.example.com. List them with: kubectl get crds`,
      { cause: error },
    );
  }
}

/** What the definition says differently, found by loading it: where Konverge is not installed, nobody can say. */
async function differences(file: string, crd: CrdObject): Promise<string[]> {
  if (!hasKonverge(dirname(file))) {
    return ["not compared with the CRD, since konverge is not installed here: npm install konverge"];
  }
  const module = (await import(`${pathToFileURL(file).href}?at=${process.hrtime.bigint()}`)) as Record<
    string,
    { crd(options: object): CrdObject }
  >;
  const options = { conversionWebhook: { url: "https://unused.invalid" } };
  return definitionDifferences(crd, module[crd.spec.names.kind]!.crd(options));
}

function hasKonverge(from: string): boolean {
  for (let at = from; ; at = dirname(at)) {
    if (existsSync(join(at, "node_modules", "konverge"))) return true;
    if (dirname(at) === at) return false;
  }
}
