import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The files and folders that a process must be able to read to load modules again, as few as will do: nothing of a project
 * that is no code, such as keys and kubeconfigs.
 *
 * - `node_modules`, where imports are looked for: its packages, also those that it only links to, are readable whole, as
 *   they may read their data files;
 * - of other packages, which are the user's project: the folders in which modules lie. The top folder of a project holds
 *   all kinds of things, so modules there are readable one by one.
 */
export function readableCode(urls: Iterable<string>): string[] {
  const files = [...urls].filter((url) => url.startsWith("file:")).map((url) => fileURLToPath(url));
  const folders = new Set(files.map((file) => dirname(file)));
  const installed = new Set([...folders].flatMap(nodeModulesAbove));
  const readable = new Set(installed);
  for (const file of files) {
    if (file.includes(`${sep}node_modules${sep}`)) continue;
    const folder = dirname(file);
    const root = packageOf(folder);
    if (root === undefined) readable.add(file);
    else if (isLinked(root, installed)) readable.add(root);
    else {
      readable.add(folder === root ? file : folder);
      readable.add(join(root, "package.json"));
    }
  }
  return [...readable].filter((path) => !ancestors(dirname(path)).some((above) => readable.has(above))).sort();
}

function nodeModulesAbove(folder: string): string[] {
  return ancestors(folder)
    .map((above) => join(above, "node_modules"))
    .filter((path) => existsSync(path));
}

/** The folder of the package that a folder belongs to. */
function packageOf(folder: string): string | undefined {
  return ancestors(folder).find((above) => existsSync(join(above, "package.json")));
}

/** Whether a package is installed somewhere by a link, as those of a workspace are. */
function isLinked(root: string, installed: Iterable<string>): boolean {
  const { name } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { name?: string };
  if (name === undefined) return false;
  return [...installed].some((folder) => {
    const path = join(folder, name);
    return existsSync(path) && realpathSync(path) === root;
  });
}

/** A folder and all above it. */
function ancestors(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...ancestors(above)];
}
