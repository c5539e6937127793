import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Operator } from "konverge";

/** A file of samples, and what is in it. */
export interface Sample {
  readonly file: string;
  readonly text: string;
}

/** The samples that come with an operator of this repository, in the order of their files' names. */
export function samplesOf({ name }: Pick<Operator, "name">): readonly Sample[] {
  const folder = samplesFolder(name);
  if (folder === undefined || !existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((file) => file.endsWith(".yaml"))
    .sort()
    .map((file) => ({ file, text: readFileSync(folder + file, "utf8") }));
}

/** Packages are called like their operators, and samples are beside their sources, or all in one place once published. */
function samplesFolder(name: string): string | undefined {
  const published = fileURLToPath(new URL(`../samples/${name}/`, import.meta.url));
  if (existsSync(published)) return published;
  try {
    return fileURLToPath(new URL("../samples/", import.meta.resolve(`@konverge/${name}`)));
  } catch {
    return undefined;
  }
}
