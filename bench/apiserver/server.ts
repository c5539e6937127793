// The embedded API server behind TLS, in a separate process.
//     node server.ts FOLDER [FILE]
// FOLDER has ca.crt and ca.key; with FILE it is durable. Prints its port when it serves. A line on standard input makes it
// collect its garbage and print what it then holds.
import { readFileSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ApiServer, Authority, listen, SERVER_NAMES, SqliteJournal } from "@konverge/apiserver";
import { realClock } from "@konverge/core";

const [folder, file] = process.argv.slice(2) as [string, string?];
const clock = realClock();
const credential = {
  cert: readFileSync(join(folder, "ca.crt"), "utf8"),
  key: readFileSync(join(folder, "ca.key"), "utf8"),
};
const authority = new Authority(credential, clock);
const server = new ApiServer({ clock, ...(file && { journal: new SqliteJournal({ path: file }) }) });
const { port } = await listen(server.guard, {
  tls: { ...authority.server("kube-apiserver", SERVER_NAMES), clientCa: authority.cert },
  clock,
});
console.log(port);
flushCompileCache();
createInterface(process.stdin)
  .on("line", () => {
    globalThis.gc?.();
    const { heapUsed, external } = process.memoryUsage();
    console.log(heapUsed + external);
  })
  .on("close", () => process.exit(0));
