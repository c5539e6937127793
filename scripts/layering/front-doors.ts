import { posix } from "node:path";
import { type Import, isTest } from "./imports.ts";

/**
 * A package's front doors are the files that its package.json exports: for other packages. Folders inside a package have
 * none, so that an import says where a thing is, and nothing is loaded or part of a cycle because of its neighbors.
 */
export function frontDoorProblems(
  files: Iterable<string>,
  imports: readonly Import[],
  doors: ReadonlySet<string>,
): string[] {
  const inner = [...files]
    .filter((file) => posix.basename(file) === "index.ts" && !doors.has(file))
    .map((file) => `${file}: folders have no index.ts: import their files directly`);
  const inward = imports
    .filter(({ from, to }) => to && doors.has(to) && !doors.has(from) && !isTest(from))
    .filter(({ from, to }) => from.startsWith("packages/") && packageOf(from) === packageOf(to!))
    .map(({ from, line, to }) => `${from}:${line} imports ${to}: that is for other packages: import the file itself`);
  return [...inner, ...inward];
}

const packageOf = (file: string) => file.split("/", 2).join("/");
