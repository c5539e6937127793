import { cpSync, existsSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { isObject } from "@konverge/core";
import { parseYaml } from "@konverge/schema";
import { UsageError } from "../usage-error.ts";

/** A Helm chart that a project is made of. */
export interface ChartFile {
  /** A folder, or a `.tgz` file. */
  readonly path: string;
  readonly name: string;
  /** Where the project has it: `charts/web`, `charts/web-1.0.0.tgz`. */
  readonly target: string;
}

/** Reads the name of a chart. */
export function readChartFile(path: string): ChartFile {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found)
    throw new UsageError(`--helm ${path}: there is no such chart: name a folder with a Chart.yaml, or a .tgz file`);
  const text = found.isDirectory() ? chartYamlIn(path) : chartYamlOf(path);
  const [chart] = text === undefined ? [] : parseYaml(text);
  const name = isObject(chart) ? (chart as { name?: unknown }).name : undefined;
  if (typeof name !== "string") throw new UsageError(`--helm ${path} is not a chart: it has no Chart.yaml with a name`);
  return { path, name, target: `charts/${found.isDirectory() ? name : basename(path)}` };
}

function chartYamlIn(folder: string): string | undefined {
  const file = join(folder, "Chart.yaml");
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

const BLOCK = 512;

/** `NAME/Chart.yaml` in a packed chart: a tar archive has a block with name and length before each file. */
function chartYamlOf(file: string): string | undefined {
  const archive = unpacked(file);
  for (let at = 0; at + BLOCK <= archive.length; ) {
    const text = (from: number, length: number) =>
      archive.toString("utf8", at + from, at + from + length).replace(/\0.*$/s, "");
    const size = Number.parseInt(text(124, 12), 8) || 0;
    if (/^[^/]+\/Chart\.yaml$/.test(text(0, 100))) return archive.toString("utf8", at + BLOCK, at + BLOCK + size);
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return undefined;
}

function unpacked(file: string): Buffer {
  try {
    return gunzipSync(readFileSync(file));
  } catch (error) {
    throw new UsageError(`--helm ${file} is not a packed chart: ${(error as Error).message}`, { cause: error });
  }
}

/** Copies a chart into a project. */
export function copyChart({ path, target }: ChartFile, folder: string, tell: (text: string) => void): void {
  cpSync(path, join(folder, target), { recursive: true, dereference: true });
  tell(`${target} copied from ${path}`);
}

/** `KubeStateMetrics` of `kube-state-metrics`. */
export function kindOfChart(name: string): string {
  const words = name.split(/[^A-Za-z0-9]+/).filter(Boolean);
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}
