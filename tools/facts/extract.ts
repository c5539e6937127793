// npm run facts [-- --kubernetes 1.37.1] [--check]
// Extracts the facts of the built-in kinds from a real API server and from Kubernetes' Go types, and generates the
// TypeScript types from them. With --kubernetes it writes how that version differs, from the documents in the Go module
// k8s.io/kubernetes: no server is run. With --check it writes nothing and says whether the files are up to date.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { generateFacts } from "./generate.ts";
import { versionFacts, versionText } from "./version.ts";

const kinds = fileURLToPath(new URL("../../packages/kinds/", import.meta.url));
const outputFolders = ["data", join("src", "generated"), join("..", "konverge", "src", "generated")];

const { values } = parseArgs({
  options: { check: { type: "boolean", default: false }, kubernetes: { type: "string" } },
});

try {
  const { kubernetes } = values;
  const files = kubernetes === undefined ? await generateFacts() : versionFile(kubernetes);
  const stale = kubernetes === undefined ? staleFiles(files) : [...files.keys()].filter((path) => isStale(path, files));
  if (values.check) {
    for (const path of stale) console.error(`out of date: ${join("packages", "kinds", path)}`);
    console.log(stale.length === 0 ? `${files.size} files are up to date` : `run "npm run facts"`);
    process.exitCode = stale.length === 0 ? 0 : 1;
  } else {
    for (const path of stale) write(path, files.get(path));
    console.log(`${files.size} files, ${stale.length} changed`);
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

/** The one file of a version. */
function versionFile(kubernetes: string): Map<string, string> {
  const minor = kubernetes.split(".").slice(0, 2).join(".");
  return new Map([[join("data", `kubernetes-${minor}.json`), versionText(versionFacts(kubernetes))]]);
}

function isStale(path: string, files: Map<string, string>): boolean {
  const target = join(kinds, path);
  return !existsSync(target) || readFileSync(target, "utf8") !== files.get(path);
}

/** Files that differ from what they should be, are missing, or should not be there. Those of versions are made one by one. */
function staleFiles(files: Map<string, string>): string[] {
  const present = outputFolders
    .flatMap((folder) => listFiles(folder))
    .filter((path) => !/[\\/]kubernetes-[\d.]+\.json$/.test(path));
  const paths = new Set([...present, ...files.keys()]);
  return [...paths]
    .filter((path) => !present.includes(path) || readFileSync(join(kinds, path), "utf8") !== files.get(path))
    .sort();
}

function listFiles(folder: string): string[] {
  try {
    return readdirSync(join(kinds, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(kinds, join(entry.parentPath, entry.name)));
  } catch {
    return [];
  }
}

function write(path: string, text: string | undefined): void {
  const target = join(kinds, path);
  if (text === undefined) {
    rmSync(target);
    return;
  }
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text);
}
