import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { NewFiles } from "./api-files.ts";

/** Writes files that are not there yet. What is there stays as it is, and is named if it is something else. */
export function writeNewFiles(folder: string, files: NewFiles, tell: (text: string) => void): void {
  for (const [path, text] of files) {
    const at = join(folder, path);
    if (existsSync(at)) {
      const isSame = readFileSync(at, "utf8") === text;
      tell(isSame ? `${path} unchanged` : `${path} kept: it exists, and is not overwritten`);
      continue;
    }
    mkdirSync(dirname(at), { recursive: true });
    writeFileSync(at, text);
    tell(`${path} written`);
  }
}
