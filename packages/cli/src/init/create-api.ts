import { join } from "node:path";
import { apiFiles } from "./api-files.ts";
import { addToList, LIST } from "./api-list.ts";
import { type Api, apiOf } from "./names.ts";
import { writeNewFiles } from "./new-files.ts";
import { projectOf } from "./project.ts";

/** Adds an API to the project that a folder is in. Nothing that is there is overwritten; what could not be added is told. */
export function createApi(given: Api, from: string, tell: (text: string) => void): void {
  const { folder, name, domain } = projectOf(from);
  const api = apiOf(given, domain);
  writeNewFiles(folder, apiFiles(api, name), tell);
  tell(addToList(join(folder, LIST), "kinds", api.kind));
}
