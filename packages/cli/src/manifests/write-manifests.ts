import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import type { Files } from "./files.ts";
import { lineDifferences } from "./line-differences.ts";

/** What writing manifests changed: paths in the folder. */
export interface Written {
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/**
 * Writes manifests to a folder. Files there that the operators no longer have are removed if they were written by an
 * earlier run; whatever else is in the folder stays.
 */
export function writeManifests(folder: string, files: Files, command = "manifests"): Written {
  const changed: string[] = [];
  for (const [path, text] of files) {
    const at = join(folder, path);
    if (existsSync(at) && readFileSync(at, "utf8") === text) continue;
    mkdirSync(dirname(at), { recursive: true });
    writeFileSync(at, text);
    changed.push(path);
  }
  const removed = leftOver(folder, files, command);
  for (const path of removed) rmSync(join(folder, path));
  return { changed, removed };
}

/** How a folder differs from what would be written to it, in words; nothing when it does not. */
export function manifestDifferences(folder: string, files: Files, command = "manifests"): string[] {
  const differences: string[] = [];
  for (const [path, text] of files) {
    const at = join(folder, path);
    if (!existsSync(at)) differences.push(`${path}: missing`);
    else {
      const lines = lineDifferences(readFileSync(at, "utf8"), text);
      if (lines.length > 0) differences.push([`${path}: differs`, ...lines.map((line) => `  ${line}`)].join("\n"));
    }
  }
  for (const path of leftOver(folder, files, command)) differences.push(`${path}: no operator has it anymore`);
  return differences;
}

function leftOver(folder: string, files: Files, command: string): string[] {
  if (!existsSync(folder)) return [];
  return globSync("**/*.{yaml,json,md,tpl,txt,Dockerfile}", { cwd: folder })
    .map((path) => path.split(sep).join("/"))
    .filter((path) => !files.has(path) && isOurs(join(folder, path), command))
    .sort();
}

/** Each command removes only what it has written: several may write to one folder. */
function isOurs(path: string, command: string): boolean {
  const [, by] =
    /^(?:# |<!-- |\{\{- \/\* |\{\s*"\$comment": ")Written by `konverge (\w+)`/.exec(readFileSync(path, "utf8")) ?? [];
  return by === command;
}
