import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";
import type { ChartSource } from "./rendered.ts";

/** As in Helm: a chart is not larger. */
const LARGEST = 100 * 2 ** 20;

/** Reads a chart from a folder or from a package (`.tgz`). Links are followed, as Helm does. */
export function readChart(path: string): ChartSource {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) throw new Error(`there is no chart ${path}: name a folder with a Chart.yaml, or a .tgz file`);
  if (found.isFile()) return { archive: readFileSync(path) };
  const files: { name: string; data: Uint8Array }[] = [];
  let size = 0;
  for (const name of filesIn(path)) {
    const data = readFileSync(name);
    size += data.length;
    if (size > LARGEST) throw new Error(`${path} has more than ${LARGEST} bytes: is it a chart?`);
    files.push({ name: relative(path, name).split(sep).join("/"), data });
  }
  if (!files.some(({ name }) => name === "Chart.yaml")) {
    throw new Error(`${path} is not a chart: it has no Chart.yaml`);
  }
  return { files };
}

function filesIn(folder: string): string[] {
  return readdirSync(folder)
    .sort()
    .flatMap((name) => {
      const path = join(folder, name);
      return statSync(path).isDirectory() ? filesIn(path) : [path];
    });
}
