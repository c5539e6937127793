import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { UsageError } from "../usage-error.ts";
import { apiFiles, apiList, LIST, listedKinds } from "./api-files.ts";
import { type Api, apiOf, controllerConstant, fileName } from "./names.ts";
import { writeNewFiles } from "./new-files.ts";

/** Adds an API to the project that a folder is in. Nothing that is there is overwritten; what could not be added is told. */
export function createApi(given: Api, from: string, tell: (text: string) => void): void {
  const folder = projectFolder(from);
  const { name, konverge } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    name: string;
    konverge?: { domain?: string };
  };
  const api = apiOf(given, konverge?.domain ?? "example.com");
  writeNewFiles(folder, apiFiles(api, name), tell);
  tell(addToList(join(folder, LIST), api.kind));
}

/** Returns what became of the list. One that a person has changed is not written again: it says what to add. */
function addToList(path: string, kind: string): string {
  const text = existsSync(path) ? readFileSync(path, "utf8") : undefined;
  const kinds = text === undefined ? [] : listedKinds(text);
  if (kinds.includes(kind)) return `${LIST} unchanged`;
  if (text === undefined || text === apiList(kinds)) {
    writeFileSync(path, apiList([...kinds, kind]));
    return `${LIST} written`;
  }
  return `${LIST} kept: it was changed by hand. Add to it: import { ${kind}, ${controllerConstant(kind)} } from "./${fileName(kind)}.ts"; and ${kind} to kinds, ${controllerConstant(kind)} to controllers`;
}

/** The folder of the project that `konverge init` made. */
function projectFolder(from: string): string {
  for (let at = resolve(from); ; at = dirname(at)) {
    if (existsSync(join(at, "package.json")) && existsSync(join(at, "src", "operator.ts"))) return at;
    if (dirname(at) === at) {
      throw new UsageError("there is no project here: change to its folder, or start one with: npx konverge init NAME");
    }
  }
}
