import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Which list: the passing specs on the embedded cluster, on the real control plane, or on real nodes. */
export type ListName = "passing" | "yardstick" | "nodes";

/** The names of a SIG's passing specs, and the header of the list: when and how it was recorded. */
export interface SpecList {
  readonly about: string;
  readonly names: readonly string[];
}

const folder = dirname(fileURLToPath(import.meta.url));

/** The sigs that have a list of that name. */
export function listedSigs(list: ListName): string[] {
  const path = join(folder, list);
  if (!existsSync(path)) return [];
  return readdirSync(path)
    .filter((name) => name.endsWith(".txt"))
    .map((name) => name.slice(0, -".txt".length))
    .sort();
}

/** A sig's list; undefined when there is none. */
export function readList(list: ListName, sig: string): SpecList | undefined {
  const path = fileOf(list, sig);
  return existsSync(path) ? parseList(readFileSync(path, "utf8")) : undefined;
}

export function writeList(list: ListName, sig: string, content: SpecList): void {
  mkdirSync(join(folder, list), { recursive: true });
  writeFileSync(fileOf(list, sig), formatList(content));
}

export function parseList(text: string): SpecList {
  const lines = text.split("\n").filter((line) => line !== "");
  const about = lines.filter((line) => line.startsWith("# ")).map((line) => line.slice(2));
  return { about: about.join("\n"), names: lines.filter((line) => !line.startsWith("# ")) };
}

export function formatList({ about, names }: SpecList): string {
  const head = about.split("\n").map((line) => `# ${line}`);
  return `${[...head, ...[...names].sort()].join("\n")}\n`;
}

/**
 * The same few for the same names whatever their order, and mostly the same when a name comes or goes; others for another
 * seed.
 */
export function sampleOf<T extends { readonly name: string }>(specs: readonly T[], size: number, seed = ""): T[] {
  const digest = ({ name }: T) => createHash("sha256").update(`${seed}${name}`).digest("hex");
  return [...specs].sort((a, b) => (digest(a) < digest(b) ? -1 : 1)).slice(0, size);
}

function fileOf(list: ListName, sig: string): string {
  return join(folder, list, `${sig}.txt`);
}
