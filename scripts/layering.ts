// Which file may import which: no cycles (types included), one direction between the entries of each folder, arrows between
// packages, front doors only at the edge of a package. And what controllers write past the framework: each with its reason, all listed.
import { globSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { cycleProblems } from "./layering/cycles.ts";
import { directWriteProblems, directWrites, directWritesText } from "./layering/direct-writes.ts";
import { frontDoorProblems } from "./layering/front-doors.ts";
import { importsIn } from "./layering/imports.ts";
import { packageProblems } from "./layering/packages.ts";

const files = globSync("{packages,operators,tools,examples,bench,scripts}/**/*.ts", {
  exclude: (path) => /node_modules|\/dist(\/|$)/.test(path),
}).sort();
const sources = new Map(files.map((file) => [file, readFileSync(file, "utf8")]));
const imports = importsIn(sources);
const writes = directWrites(sources);
const problems = [
  ...packageProblems(imports),
  ...cycleProblems(imports),
  ...frontDoorProblems(files, imports, frontDoors()),
  ...directWriteProblems(writes),
];
console.log(directWritesText(writes));
for (const problem of problems) console.error(problem);
process.exit(problems.length === 0 ? 0 : 1);

/** The files that packages export. */
function frontDoors(): Set<string> {
  const doors = new Set<string>();
  for (const manifest of globSync("{packages,operators,tools}/*/package.json")) {
    const { exports = {} } = JSON.parse(readFileSync(manifest, "utf8")) as { exports?: Record<string, string> };
    for (const file of Object.values(exports)) doors.add(posix.join(posix.dirname(manifest), file));
  }
  return doors;
}
