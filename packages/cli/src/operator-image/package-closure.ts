import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/**
 * The folders of packages and of all that they depend on, as they are installed, with the links by which they are found.
 * A dependency that is not installed is optional, or not needed here.
 */
export function packageClosure(roots: Iterable<string>): { folders: string[]; links: string[] } {
  const folders = new Set<string>();
  const links = new Set<string>();
  const open = [...roots];
  for (let root = open.pop(); root !== undefined; root = open.pop()) {
    if (folders.has(root)) continue;
    folders.add(root);
    const { dependencies, optionalDependencies, peerDependencies } = manifestOf(root);
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const found = installed(name, root);
      if (found === undefined) continue;
      const real = realpathSync(found);
      if (real !== found) links.add(found);
      open.push(real);
    }
  }
  return { folders: [...folders].sort(), links: [...links].sort() };
}

/** The files of a folder, without the packages that are installed in it. */
export function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return [".git", "node_modules"].includes(entry.name) ? [] : filesIn(path);
    return entry.isFile() ? [path] : [];
  });
}

function manifestOf(root: string): Manifest {
  const file = join(root, "package.json");
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Manifest) : {};
}

function installed(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = join(folder, "node_modules", name);
    if (existsSync(path)) return path;
    if (folder === dirname(folder)) return undefined;
  }
}
