import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Rehearsal } from "./rehearsal.ts";
import { rehearsalJUnit, rehearsalPage } from "./rehearsal-text.ts";

/** A rehearsal as JSON. */
export function rehearsalJson(rehearsal: Rehearsal): string {
  return `${JSON.stringify(rehearsal, undefined, 2)}\n`;
}

/** Writes a rehearsal to a folder: `rehearsal.json`, `junit.xml` and `rehearsal.html`. Returns the files' names. */
export function writeRehearsal(rehearsal: Rehearsal, folder: string): string[] {
  mkdirSync(folder, { recursive: true });
  const files: Record<string, string> = {
    "rehearsal.json": rehearsalJson(rehearsal),
    "junit.xml": rehearsalJUnit(rehearsal),
    "rehearsal.html": rehearsalPage(rehearsal),
  };
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  return Object.keys(files).map((file) => join(folder, file));
}
