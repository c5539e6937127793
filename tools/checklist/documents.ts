import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ChecklistDocument } from "./form.ts";

/** All documents that are checked: every file in `lines` exports one as its default. */
export async function documents(): Promise<ChecklistDocument[]> {
  const folder = join(import.meta.dirname, "lines");
  const files = readdirSync(folder).filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"));
  const found: ChecklistDocument[] = [];
  for (const file of files.sort()) {
    const module = (await import(pathToFileURL(join(folder, file)).href)) as { default?: ChecklistDocument };
    if (module.default) found.push(module.default);
  }
  return found.sort((a, b) => (a.id < b.id ? -1 : 1));
}
