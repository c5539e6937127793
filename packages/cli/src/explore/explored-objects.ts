import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { Operator } from "@konverge/runtime";
import { chosenSamples } from "../demo/chosen-samples.ts";
import { UsageError } from "../usage-error.ts";

/** Objects to explore an operator with, as YAML or objects, and the file or folder that they are from. */
export interface ExploredObjects {
  readonly from: string;
  readonly objects: readonly (string | object)[];
}

/**
 * What is created to explore an operator: all that `path` has; without it, a sample of each kind from the `samples` folder of
 * the module's project. Undefined if there is none.
 */
export function objectsFor(operator: Operator, module: string, path?: string): ExploredObjects | undefined {
  if (path !== undefined) return { from: path, objects: samplesIn(path).map(({ text }) => text) };
  const from = samplesFolder(resolve(module));
  if (from === undefined) return undefined;
  const objects = chosenSamples(operator, samplesIn(from)).map(({ object }) => object);
  return objects.length > 0 ? { from, objects } : undefined;
}

function samplesIn(path: string): { file: string; text: string }[] {
  if (!existsSync(path)) throw new UsageError(`--objects ${path}: there is no such file or folder`);
  const files = statSync(path).isDirectory()
    ? readdirSync(path)
        .filter((name) => /\.ya?ml$/.test(name))
        .sort()
        .map((name) => join(path, name))
    : [path];
  return files.map((file) => ({ file: basename(file), text: readFileSync(file, "utf8") }));
}

/** `samples` beside the package.json that a module belongs to. */
function samplesFolder(module: string): string | undefined {
  for (let folder = dirname(module); ; folder = dirname(folder)) {
    if (existsSync(join(folder, "package.json"))) {
      const samples = join(folder, "samples");
      return existsSync(samples) ? samples : undefined;
    }
    if (folder === dirname(folder)) return undefined;
  }
}
