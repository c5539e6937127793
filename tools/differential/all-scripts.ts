import { globSync } from "node:fs";
import { resolve } from "node:path";
import { matrixScripts } from "./matrix.ts";
import { loadScripts, type Script } from "./script.ts";

const OWN = resolve(new URL("./scripts", import.meta.url).pathname);

/** The project's own scripts and the matrix, or those of another folder. */
export function allScripts(given = OWN): Script[] {
  const folder = resolve(given);
  const written = globSync(`${folder}/**/*.yaml`)
    .sort()
    .flatMap(loadScripts)
    .map((script) => ({ ...script, file: script.file.slice(folder.length + 1) }));
  return folder === OWN ? [...written, ...matrixScripts()] : written;
}
