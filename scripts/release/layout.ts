/**
 * What is published: folders of the workspace put together into the packages that users install. Inside the repository
 * packages import each other by name; {@link destinationOf} says what becomes of such an import when it is published.
 */
import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path/posix";

/** A package that users install. */
export interface PublishedPackage {
  readonly name: string;
  /** The folder with its manifest, its README, its front door and the modules that users import. */
  readonly folder: string;
  /**
   * Folders whose code it contains. An operator is a subpath (`operators/llm` is `@konverge/operators/llm`). What is below
   * packages/ is reached by other published packages of the same version alone (`packages/schema` is
   * `konverge/internal/schema`): the public API is what `folder` exports.
   */
  readonly contains: readonly string[];
  /** The folder of the command that it brings. */
  readonly command?: string;
  /**
   * Modules that are started as processes, each bundled with everything that it needs: `packages/cli/src/envtest-apiserver.ts`
   * is `@konverge/dev/internal/envtest-apiserver`.
   */
  readonly programs?: readonly string[];
  /** Packages of ours without which it works, but can do less. */
  readonly optional?: readonly string[];
  /** Libraries in Konverge's bundle that its declarations name: installed too, in the version of the bundle. */
  readonly types?: readonly string[];
}

export const published: readonly PublishedPackage[] = [
  {
    name: "konverge",
    folder: "packages/konverge",
    contains: [
      "packages/core",
      "packages/certificates",
      "packages/kinds",
      "packages/schema",
      "packages/client",
      "packages/runtime",
      "packages/sizing",
    ],
    command: "packages/cli",
    optional: ["@konverge/dev", "@konverge/operators"],
    types: ["zod"],
  },
  {
    name: "@konverge/dev",
    folder: "packages/dev",
    contains: ["packages/apiserver", "packages/cluster", "packages/console", "packages/linux-node", "packages/testing"],
    programs: ["packages/cli/src/envtest-apiserver.ts"],
  },
  {
    name: "@konverge/operators",
    folder: "operators/all",
    contains: [
      "operators/llm",
      "operators/training",
      "operators/ray",
      "operators/seldon",
      "operators/dynamo",
      "operators/database",
      "operators/kubeflow",
    ],
    types: ["zod"],
  },
  {
    name: "@konverge/declarative",
    folder: "packages/declarative",
    contains: [],
    programs: ["packages/declarative/src/helm/engine/render-worker.ts"],
  },
];

/** What publishing reads in the package.json of a folder. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description?: string;
  readonly keywords?: readonly string[];
  readonly homepage?: string;
  readonly repository?: object;
  readonly engines?: { readonly node: string };
  readonly exports: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

export function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

/** The folders of the workspace by the names of their packages. */
const folders = new Map(
  globSync("{packages,operators}/*/package.json").map((file) => [manifestIn(dirname(file)).name, dirname(file)]),
);

/** The oldest Node that runs what is published, as its major version. */
export const NODE_MINIMUM = Number(/^>=(\d+)$/.exec(manifestIn("packages/konverge").engines?.node ?? "")?.[1]);

/** All folders that a published package is made from. */
export function foldersOf({ folder, contains, command }: PublishedPackage): string[] {
  return [folder, ...contains, ...(command ? [command] : [])];
}

/** Where an import leads once it is published: to a source file of the same package, or to another package. */
export type Destination = { readonly inside: string } | { readonly outside: string };

/** The destination of an import in a published package; undefined for what is not of this workspace. */
export function destinationOf(specifier: string, target: PublishedPackage): Destination | undefined {
  const [, name = "", rest = ""] = /^((?:@[\w-]+\/)?[\w-]+)(\/.*)?$/.exec(specifier) ?? [];
  const folder = folders.get(name);
  const home = folder && published.find((one) => foldersOf(one).includes(folder));
  if (!folder || !home) return undefined;
  if (home === target) return { inside: moduleOf(folder, rest) };
  return { outside: folder === home.folder ? name + rest : home.name + subpathOf(folder) + rest };
}

/** The source file that an import of a package of this workspace leads to. */
export function sourceOf(specifier: string): string {
  const [, name = "", rest = ""] = /^((?:@[\w-]+\/)?[\w-]+)(\/.*)?$/.exec(specifier) ?? [];
  const folder = folders.get(name);
  if (!folder) throw new Error(`${specifier} is not a package of this workspace`);
  return moduleOf(folder, rest);
}

/** The subpath under which a folder is part of a published package. */
const subpathOf = (folder: string) => `${folder.startsWith("packages/") ? "/internal" : ""}/${basename(folder)}`;

/** The modules of a folder that can be imported, by subpath (`""`, `/cel`): its exports, with patterns filled in. */
export function modulesOf(folder: string): Map<string, string> {
  const modules = new Map<string, string>();
  for (const [key, module] of Object.entries(manifestIn(folder).exports)) {
    const subpath = key.slice(1);
    if (!subpath.includes("*")) modules.set(subpath, join(folder, module));
    else {
      const [before, after] = join(folder, module).split("*") as [string, string];
      for (const file of globSync(`${before}*${after}`).sort()) {
        modules.set(subpath.replace("*", file.slice(before.length, -after.length)), file);
      }
    }
  }
  return modules;
}

function moduleOf(folder: string, subpath: string): string {
  const module = modulesOf(folder).get(subpath);
  if (!module) throw new Error(`${folder}/package.json does not export .${subpath}, which something imports`);
  return module;
}

/** The modules that can be imported from a published package, by subpath. What is not in `src` is for the repository only. */
export function entriesOf(target: PublishedPackage): Map<string, string> {
  const entries = new Map(modulesOf(target.folder));
  for (const folder of target.contains) {
    for (const [subpath, module] of modulesOf(folder)) {
      if (module.includes("/src/")) entries.set(subpathOf(folder) + subpath, module);
    }
  }
  return entries;
}
