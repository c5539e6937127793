import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Files of the page by name. */
export type PageFiles = ReadonlyMap<string, string>;

/** Where the pack step puts the page, relative to a bundle. */
const PACKED = new URL("../data/console/", import.meta.url);

let built: Promise<PageFiles> | undefined;

/** The page: as it was packed, or, in a checkout, built on first use and kept for as long as the process runs. */
export function pageFiles(): Promise<PageFiles> {
  built ??= existsSync(PACKED) ? Promise.resolve(packedFiles()) : buildFiles();
  return built;
}

function packedFiles(): PageFiles {
  return new Map(readdirSync(fileURLToPath(PACKED)).map((name) => [name, readFileSync(new URL(name, PACKED), "utf8")]));
}

async function buildFiles(): Promise<PageFiles> {
  // Not for bundlers to follow: what is published has the page built, and no esbuild.
  const module = new URL("../build/bundle-page.ts", import.meta.url).href;
  const { bundlePage } = (await import(module)) as { bundlePage(): Promise<{ files: PageFiles }> };
  return (await bundlePage()).files;
}
