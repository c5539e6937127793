import { cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path/posix";
import { bundlePage } from "@konverge/console/build";
import { bundle, bundleFile, bundlePrograms, EXTERNAL, thirdParties } from "./bundle.ts";
import { copyDeclarations, declarationsOf } from "./declarations.ts";
import { entriesOf, foldersOf, manifestIn, type PublishedPackage } from "./layout.ts";

/** The folder of the console, whose page is built when it is packed. */
const CONSOLE = "packages/console";
/** The folder whose data every program reads. */
const KINDS = "packages/kinds";
/** The folder whose package.json has the version of what kinds are written with. */
const SCHEMA = "packages/schema";
/** Files beside the sources that code reads when it runs. */
const READ_BY_CODE = ["data", "scripts"];

/** What runs: the bundle, what it reads, the command and a manifest, in a separate folder. */
export async function stageCode(target: PublishedPackage, root: string): Promise<void> {
  await bundle(target, root);
  if (target.programs) copyDataOfPrograms(root);
  for (const folder of foldersOf(target)) {
    for (const name of READ_BY_CODE) copyIfThere(join(folder, name), join(root, name));
    copyIfThere(join(folder, "samples"), join(root, "samples", manifestIn(folder).name.replace(/^@konverge\//, "")));
  }
  if (target.contains.includes(CONSOLE)) await stagePage(join(root, "data", "console"));
  if (target.command) cpSync(join(target.command, "bin"), join(root, "bin"), { recursive: true });
  writeFileSync(join(root, "package.json"), `${JSON.stringify(publishedManifest(target), undefined, 2)}\n`);
}

/** Programs that are in no package, as if they were published: for measurements. */
export async function stagePrograms(programs: readonly string[], root: string): Promise<void> {
  await bundlePrograms(programs, root);
  copyDataOfPrograms(root);
  writeFileSync(join(root, "package.json"), '{ "type": "module" }\n');
}

function copyDataOfPrograms(root: string): void {
  cpSync(join(KINDS, "data"), join(root, "data"), { recursive: true });
}

/** The page of the console: built here, so that its users need no bundler. */
async function stagePage(folder: string): Promise<void> {
  const { files, metafile } = await bundlePage();
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of files) writeFileSync(join(folder, name), text);
  writeFileSync(join(folder, "THIRD-PARTY.md"), thirdParties(metafile.inputs));
}

/** The package as it is published: what runs, its declarations and what people read first. */
export async function stage(target: PublishedPackage, root: string): Promise<void> {
  await stageCode(target, root);
  copyDeclarations(target, root);
  for (const file of ["LICENSE", "CHANGELOG.md"]) cpSync(file, join(root, file));
  cpSync(join(target.folder, "README.md"), join(root, "README.md"));
}

function copyIfThere(from: string, to: string): void {
  if (existsSync(from)) cpSync(from, to, { recursive: true });
}

/** The package.json of a published package. */
export function publishedManifest(target: PublishedPackage) {
  const { name, command, optional = [] } = target;
  const { version, description, keywords, homepage, repository, engines } = manifestIn(target.folder);
  const exported = [...entriesOf(target)].map(([subpath, module]) => [
    `.${subpath}`,
    { types: `./${declarationsOf(module)}`, default: `./dist/${bundleFile(subpath)}.js` },
  ]);
  const programs = (target.programs ?? []).map((program) => basename(program, ".ts"));
  return {
    name,
    version,
    description,
    keywords,
    homepage,
    repository,
    license: "Apache-2.0",
    type: "module",
    engines,
    sideEffects: false,
    exports: {
      ...Object.fromEntries(exported),
      ...Object.fromEntries(programs.map((program) => [`./internal/${program}`, `./dist/${program}.js`])),
    },
    ...(command && { bin: { konverge: "bin/konverge.js", "kubectl-konverge": "bin/kubectl-konverge.js" } }),
    dependencies: dependenciesOf(target, version),
    ...(optional.length > 0 && {
      peerDependencies: Object.fromEntries(optional.map((one) => [one, version])),
      peerDependenciesMeta: Object.fromEntries(optional.map((one) => [one, { optional: true }])),
    }),
  };
}

/** Libraries that are not in the bundle, and Konverge itself where another package builds on it. */
function dependenciesOf(target: PublishedPackage, version: string): Record<string, string> {
  const dependencies: Record<string, string> = target.name === "konverge" ? {} : { konverge: version };
  const isExternal = new Set<string>(EXTERNAL);
  for (const folder of foldersOf(target)) {
    for (const [library, range] of Object.entries(manifestIn(folder).dependencies ?? {})) {
      if (isExternal.has(library)) dependencies[library] = `^${range}`;
    }
  }
  const { dependencies: exact = {} } = manifestIn(SCHEMA);
  for (const library of target.types ?? []) dependencies[library] = exact[library]!;
  return Object.fromEntries(Object.entries(dependencies).sort());
}

/** Where a package is put together below a folder. */
export const stageFolder = (target: PublishedPackage, below: string): string => join(below, target.name);
