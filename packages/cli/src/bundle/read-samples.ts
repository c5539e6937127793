import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { KubeObject } from "@konverge/core";
import { parseYaml } from "@konverge/schema";
import { UsageError } from "../usage-error.ts";

/** The objects in the YAML files of folders, or in files. */
export function readSamples(paths: readonly string[]): KubeObject[] {
  return paths.flatMap((path) => {
    if (!existsSync(path)) throw new UsageError(`there is no file or folder ${path}: name your samples with --samples`);
    const files = statSync(path).isDirectory()
      ? globSync("**/*.{yaml,yml}", { cwd: path })
          .sort()
          .map((file) => join(path, file))
      : [path];
    return files.flatMap((file) => parseYaml(readFileSync(file, "utf8")).filter(isNamed));
  });
}

function isNamed(value: unknown): value is KubeObject {
  return typeof (value as KubeObject | null)?.metadata?.name === "string";
}
