import { fileURLToPath } from "node:url";

/**
 * A file in `bin` that is started as a process of its own. This module stays where it is, one level below the package:
 * so is the bundle that it is published in, and both find `bin` beside them.
 */
export function startedFile(name: "konverge.js" | "envtest-etcd.js"): string {
  return fileURLToPath(new URL(`../bin/${name}`, import.meta.url));
}
