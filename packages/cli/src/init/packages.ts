import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { UsageError } from "../usage-error.ts";

/** What a project depends on, as its package.json says it. */
export interface Packages {
  readonly konverge: string;
  /** Of operators without code: only if the project is one. */
  readonly declarative?: string;
  readonly dev: string;
  readonly typescript: string;
  readonly nodeTypes: string;
  /** Packages that the project brings itself, in `vendor/`. */
  readonly tarballs: readonly string[];
}

/** Libraries of other people, in the versions that Konverge is tested with. */
export const LIBRARIES = { typescript: "^7.0.2", nodeTypes: "^24.19.2" };

/**
 * The packages of a new project: those of the registry in the version of this command, or tarballs of a folder. From a checkout
 * of Konverge, where the version may not be published, tarballs of its dist/.
 */
export function packagesFor(folder: string | undefined, version: string, isDeclarative = false): Packages {
  const from = folder ?? checkoutTarballs();
  const range = `^${version}`;
  if (from === undefined) {
    return { konverge: range, dev: range, ...(isDeclarative && { declarative: range }), ...LIBRARIES, tarballs: [] };
  }
  const names = ["konverge", "konverge-dev", ...(isDeclarative ? ["konverge-declarative"] : [])];
  const tarballs = names.map((name) => tarball(from, name));
  const [konverge, dev, declarative] = tarballs.map((path) => `file:vendor/${basename(path)}`) as [
    string,
    string,
    string?,
  ];
  return { konverge, dev, ...(declarative !== undefined && { declarative }), ...LIBRARIES, tarballs };
}

function tarball(folder: string, name: string): string {
  const found = globSync(`${name}-[0-9]*.tgz`, { cwd: folder }).sort().at(-1);
  if (found) return join(resolve(folder), found);
  throw new UsageError(
    `there is no ${name}-VERSION.tgz in ${folder}: make the packages with \`npm run pack\` in a checkout of Konverge, whose dist/ then has them`,
  );
}

/** Where a checkout has its tarballs; undefined if this command is not one of a checkout. */
function checkoutTarballs(): string | undefined {
  const root = fileURLToPath(new URL("../../../../", import.meta.url));
  const manifest = join(root, "package.json");
  if (!existsSync(new URL("./packages.ts", import.meta.url)) || !existsSync(manifest)) return undefined;
  const { name } = JSON.parse(readFileSync(manifest, "utf8")) as { name?: string };
  return name === "konverge-workspace" ? join(root, "dist") : undefined;
}
