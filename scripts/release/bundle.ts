import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path/posix";
import { type BuildOptions, build, type Metafile, type Plugin } from "esbuild";
import { destinationOf, entriesOf, NODE_MINIMUM, type PublishedPackage, sourceOf } from "./layout.ts";

/**
 * Libraries that stay dependencies, so that a tree has one of each: users register metrics with prom-client, configure pino and
 * OpenTelemetry. The others are part of the bundle: see docs/decisions/003-no-build-and-bundles.md.
 */
export const EXTERNAL = ["pino", "prom-client", "ws", "@opentelemetry/api"] as const;

/** Modules of the command that are started as processes: the command itself, and what runs operators in pods and explores them. */
const STARTED = ["main", "explore-worker", "operator-catalog", "operator-container"];

/** Libraries in CommonJS ask for Node's own modules by this name. */
const REQUIRE = 'import { createRequire as $require } from "node:module"; const require = $require(import.meta.url);';

/** Whichever file is run first reports that Node is too old. Bun and Deno report the version of Node that they are compatible with. */
const CHECK_NODE = `if (!process.versions.bun && !process.versions.deno && Number.parseInt(process.versions.node) < ${NODE_MINIMUM})
  throw new Error("konverge needs Node ${NODE_MINIMUM} or newer; this is Node " + process.versions.node + ": install it from https://nodejs.org");`;

/** The file of a package's bundle that a subpath leads to. Flat: code looks for `../data` from wherever it ends up. */
export function bundleFile(subpath: string): string {
  return subpath === "" ? "index" : subpath.slice(1).replaceAll("/", "-");
}

/**
 * Puts the code of a published package into few files: one for each subpath, and what they share. What is loaded on demand
 * stays apart.
 */
export async function bundle(target: PublishedPackage, root: string): Promise<void> {
  const entries = [...entriesOf(target)].map(([subpath, module]) => ({ in: module, out: bundleFile(subpath) }));
  if (target.command) entries.push(...STARTED.map((name) => ({ in: `${target.command}/src/${name}.ts`, out: name })));
  const shared = options(join(root, "dist"));
  const modules = await build({
    ...shared,
    entryPoints: entries,
    sourcemap: "linked",
    plugins: [workspace(target), ...shared.plugins],
  });
  const programs = await bundlePrograms(target.programs ?? [], root);
  const notices = thirdParties({ ...modules.metafile.inputs, ...programs.inputs });
  if (notices) writeFileSync(join(root, "THIRD-PARTY.md"), notices);
}

/** Puts modules that are started as processes into files that have everything inside, but for what is loaded on demand. */
export async function bundlePrograms(programs: readonly string[], root: string): Promise<Metafile> {
  const shared = options(join(root, "dist"));
  const { metafile } = await build({
    ...shared,
    entryPoints: [...programs],
    // It is read faster without blanks. Names stay as they are, for stack traces.
    minifyWhitespace: true,
    minifySyntax: true,
    plugins: [wholeWorkspace(), ...shared.plugins],
  });
  return metafile;
}

/** How all bundles are made. */
function options(outdir: string) {
  return {
    outdir,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    // Syntax that an older Node can read, or it would fail there before it can report that it is too old.
    target: "node20",
    legalComments: "none",
    external: [...EXTERNAL],
    // The same library as modules: names can be imported from it on demand, and what is not used is left out.
    alias: { yaml: join(process.cwd(), "node_modules/yaml/browser/index.js") },
    plugins: [requiredHttp(), parsedJson()],
    banner: { js: `${REQUIRE}\n${CHECK_NODE}` },
    metafile: true,
    logLevel: "warning",
  } satisfies BuildOptions;
}

function workspace(target: PublishedPackage): Plugin {
  return {
    name: "workspace",
    setup({ onResolve }) {
      onResolve({ filter: /^(@konverge\/|konverge(\/|$))/ }, ({ path }) => {
        const destination = destinationOf(path, target);
        if (!destination) return { errors: [{ text: `${path} is not part of what is published` }] };
        return "inside" in destination
          ? { path: join(process.cwd(), destination.inside), sideEffects: false }
          : { path: destination.outside, external: true };
      });
    },
  };
}

/** Packages of the workspace are part of a program, whichever published package they belong to. */
function wholeWorkspace(): Plugin {
  return {
    name: "whole workspace",
    setup({ onResolve }) {
      onResolve({ filter: /^@konverge\// }, ({ path }) => ({
        path: join(process.cwd(), sourceOf(path)),
        sideEffects: false,
      }));
    },
  };
}

/**
 * Importing node:http reads all its exports, and with some of them Node loads a second HTTP client (fetch, WebSocket), which takes
 * 45 ms: it is required instead.
 */
function requiredHttp(): Plugin {
  return {
    name: "required http",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^node:http$/ }, ({ path, kind }) =>
        kind === "import-statement" ? { path, namespace: "required" } : undefined,
      );
      onLoad({ filter: /.*/, namespace: "required" }, ({ path }) => ({
        contents: `module.exports = require("${path}");`,
      }));
    },
  };
}

/** Large constants are parsed faster as JSON than as JavaScript. */
function parsedJson(): Plugin {
  return {
    name: "parsed JSON",
    setup({ onLoad }) {
      onLoad({ filter: /\.json$/ }, ({ path }) => {
        const text = JSON.stringify(JSON.parse(readFileSync(path, "utf8")));
        return { contents: `export default JSON.parse(${JSON.stringify(text)});` };
      });
    },
  };
}

/** The licenses of the libraries that became part of a bundle. */
export function thirdParties(inputs: Metafile["inputs"]): string {
  const folders = new Set(
    Object.keys(inputs).flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []),
  );
  const sections = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8")) as Library;
    const [file] = globSync(`${folder}/{LICENSE,LICENCE,license}*`);
    if (!file || !existsSync(file))
      throw new Error(`${folder} has no licence file to include: leave it out of bundles`);
    return `## ${name} ${version} (${license})\n\n${readFileSync(file, "utf8").trim()}\n`;
  });
  return sections.length > 0 ? `# Libraries in this package\n\n${sections.join("\n")}` : "";
}

interface Library {
  name: string;
  version: string;
  license: string;
}
