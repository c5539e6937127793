// `npm run build:executable`: the embedded cluster as one file for this machine, for people without Node, in dist/executable.
import { statSync } from "node:fs";
import { buildExecutable, EXECUTABLE } from "./executable.ts";

await buildExecutable();
console.log(`${EXECUTABLE}: ${Math.round(statSync(EXECUTABLE).size / 2 ** 20)} MiB`);
