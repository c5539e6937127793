// Which tests a change can break: those that import what has changed, directly or through other files.
import { execFileSync } from "node:child_process";
import { posix } from "node:path";
import type { Import } from "./layering/imports.ts";

/** What all tests depend on. */
const EVERYTHING = /^(package-lock\.json|package\.json|tsconfig\.json|scripts\/(test|steps|test-groups)\.ts)$/;

/** Where imports of packages lead: the package names of the workspace with their exported files, by specifier. */
export type Exports = ReadonlyMap<string, string>;

/**
 * The tests among `tests` that a change of `changed` affects. A file that no module imports (YAML, scripts, data) affects the tests of
 * its package.
 */
export function affectedTests(
  tests: readonly string[],
  changed: readonly string[],
  { imports, exports }: { imports: readonly Import[]; exports: Exports },
): string[] {
  if (changed.some((file) => EVERYTHING.test(file))) return [...tests];
  const importers = new Map<string, string[]>();
  for (const { from, to, specifier } of imports) {
    const target = to ?? exports.get(specifier);
    if (target === undefined) continue;
    const known = importers.get(target);
    if (known) known.push(from);
    else importers.set(target, [from]);
  }
  const affected = new Set(changed);
  for (const file of affected) for (const importer of importers.get(file) ?? []) affected.add(importer);
  const packages = new Set(changed.filter((file) => !/\.ts$/.test(file)).map(packageOf));
  return tests.filter((test) => affected.has(test) || packages.has(packageOf(test)));
}

/** `packages/core/src/a.ts` belongs to `packages/core`. */
const packageOf = (file: string) => file.split(posix.sep, 2).join(posix.sep);

/** The files that differ from the commit at which this branch left `base`, uncommitted and untracked ones included. */
export function changedFiles(base: string): string[] {
  const git = (...args: string[]) => execFileSync("git", args, { encoding: "utf8" }).split("\n").filter(Boolean);
  const [from] = git("merge-base", base, "HEAD");
  if (from === undefined) throw new Error(`--since ${base}: it has no common commit with HEAD: name another one`);
  const files = [...git("diff", "--name-only", from), ...git("ls-files", "--others", "--exclude-standard")];
  return [...new Set(files)].sort();
}
