import { existsSync } from "node:fs";
import { isSea } from "node:sea";
import { fileURLToPath } from "node:url";

// This module stays where it is, one level below the package: so is the bundle that it is published in.

/** The words that start a program as a separate process. The single executable has all of them inside. */
export function startedCommand(name: "konverge" | "envtest-etcd" | "envtest-apiserver"): [string, ...string[]] {
  if (name === "envtest-apiserver") {
    return isSea() ? [process.execPath, name, "--"] : [process.execPath, envtestApiServer()];
  }
  if (isSea()) return name === "konverge" ? [process.execPath] : [process.execPath, name];
  return [process.execPath, fileURLToPath(new URL(`../bin/${name}.js`, import.meta.url))];
}

/** Published, it is part of the package that has the API server. */
function envtestApiServer(): string {
  const source = new URL("./envtest-apiserver.ts", import.meta.url);
  return fileURLToPath(existsSync(source) ? source : import.meta.resolve("@konverge/dev/internal/envtest-apiserver"));
}

/** The words that start a worker of an exploration. */
export function startedExploreWorker(): [string, ...string[]] {
  if (isSea()) return [process.execPath, "explore-worker"];
  return [process.execPath, "--disable-warning=ExperimentalWarning", startedModule("explore-worker")];
}

/** A module beside this one that is started as a separate process. */
export function startedModule(name: "explore-worker" | "operator-catalog" | "operator-container"): string {
  const source = new URL(`./${name}.ts`, import.meta.url);
  return fileURLToPath(existsSync(source) ? source : new URL(`./${name}.js`, import.meta.url));
}
