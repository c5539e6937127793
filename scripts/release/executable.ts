import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { bundlePage } from "@konverge/console/build";
import { build, type Plugin } from "esbuild";
import { thirdParties } from "./bundle.ts";
import { manifestIn } from "./layout.ts";

/** What Node looks for in its own file, to know that it was given a program. */
const FUSE = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

/** Where the executable is built. */
export const EXECUTABLE = join("dist", "executable", process.platform === "win32" ? "konverge.exe" : "konverge");

/**
 * Builds the single executable: the Node that runs this, with the embedded cluster inside. It is for the machine it is built
 * on; Node has no other way.
 */
export async function buildExecutable(path = EXECUTABLE): Promise<void> {
  const folder = join(path, "..");
  mkdirSync(folder, { recursive: true });
  const [script, config, blob] = ["bundle.cjs", "sea.json", "sea.blob"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const { metafile } = await build({
    entryPoints: ["packages/cli/src/executable.ts"],
    outfile: script,
    bundle: true,
    format: "cjs",
    platform: "node",
    target: `node${process.versions.node}`,
    // A program inside Node has no loader of modules: what is loaded on demand is in the same file.
    supported: { "dynamic-import": false },
    legalComments: "none",
    external: ["@konverge/operators"],
    alias: { yaml: join(process.cwd(), "node_modules/yaml/browser/index.js") },
    plugins: [insteadOfFiles()],
    define: {
      "import.meta.url": "IMPORT_META_URL",
      KONVERGE_VERSION: JSON.stringify(manifestIn("packages/cli").version),
    },
    banner: { js: 'const IMPORT_META_URL = require("node:url").pathToFileURL(process.execPath).href;' },
    metafile: true,
    logLevel: "warning",
    logOverride: { "empty-import-meta": "silent" },
  });
  const settings = { main: script, output: blob, disableExperimentalSEAWarning: true, useCodeCache: true };
  writeFileSync(config, JSON.stringify({ ...settings, execArgv: ["--disable-warning=ExperimentalWarning"] }));
  execFileSync(process.execPath, ["--experimental-sea-config", config], { stdio: ["ignore", "ignore", "inherit"] });
  // Another file in its place: the Node that this is a copy of may be linked from elsewhere, or run.
  rmSync(path, { force: true });
  copyFileSync(process.execPath, path);
  chmodSync(path, 0o755);
  const isMac = process.platform === "darwin";
  if (isMac) execFileSync("codesign", ["--remove-signature", path]);
  const injected = [
    path,
    "NODE_SEA_BLOB",
    blob,
    "--sentinel-fuse",
    FUSE,
    ...(isMac ? ["--macho-segment-name", "NODE_SEA"] : []),
  ];
  execFileSync(process.execPath, [join("node_modules", "postject", "dist", "cli.js"), ...injected], { stdio: "pipe" });
  if (isMac) execFileSync("codesign", ["--sign", "-", path]);
  writeFileSync(join(folder, "THIRD-PARTY.md"), thirdParties(metafile.inputs));
  for (const file of [script, config, blob]) rmSync(file);
}

/** Modules that read files beside the code have the text of these inside. */
function insteadOfFiles(): Plugin {
  return {
    name: "instead of files",
    setup({ onLoad }) {
      onLoad({ filter: /packages[\\/]kinds[\\/]src[\\/]data-file\.ts$/ }, () => {
        const files = globSync("packages/kinds/data/*.json").map((file) => [
          basename(file),
          readFileSync(file, "utf8"),
        ]);
        const texts = JSON.stringify(Object.fromEntries(files));
        return { contents: `const texts = ${texts}; export const dataFile = (name) => texts[name];` };
      });
      onLoad({ filter: /packages[\\/]console[\\/]src[\\/]page-files\.ts$/ }, async () => {
        const files = JSON.stringify([...(await bundlePage()).files]);
        return { contents: `export const pageFiles = async () => new Map(${files});` };
      });
    },
  };
}
