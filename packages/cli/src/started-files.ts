import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

// This module stays where it is, one level below the package: so is the bundle that it is published in.

/** A file in `bin` that is started as a separate process. */
export function startedFile(name: "konverge.js" | "envtest-etcd.js"): string {
  return fileURLToPath(new URL(`../bin/${name}`, import.meta.url));
}

/** A module beside this one that is started as a separate process. */
export function startedModule(name: "operator-catalog" | "operator-container"): string {
  const source = new URL(`./${name}.ts`, import.meta.url);
  return fileURLToPath(existsSync(source) ? source : new URL(`./${name}.js`, import.meta.url));
}
