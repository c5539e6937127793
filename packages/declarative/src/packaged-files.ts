import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

// This module stays where it is, one level below the package: so is the bundle that it is published in.

/** A file of the package's `data` folder, whether it is there or not. */
export function packagedFile(name: string): string {
  return fileURLToPath(new URL(`../data/${name}`, import.meta.url));
}

/** The module of the thread in which charts are rendered. */
export function renderWorker(): URL {
  const source = new URL("./helm/engine/render-worker.ts", import.meta.url);
  return existsSync(source) ? source : new URL("./render-worker.js", import.meta.url);
}
