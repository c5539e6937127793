import { readFileSync } from "node:fs";

/** The text of a file in `data`. It is a separate module because the single executable has these files inside. */
export function dataFile(name: string): string {
  return readFileSync(new URL(`../data/${name}`, import.meta.url), "utf8");
}
