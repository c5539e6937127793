// The server of the soak, in a process of its own that is killed again and again.
//     node server.child.ts FOLDER
// Prints its port when it serves. It has forgotten its past after a few thousand changes, so that some watches cannot resume.
import { readFileSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { join } from "node:path";
import { ApiServer, Authority, listen, SERVER_NAMES, SqliteJournal } from "@konverge/apiserver";
import { realClock } from "@konverge/core";

const [folder] = process.argv.slice(2) as [string];
const clock = realClock();
const authority = new Authority(
  { cert: readFileSync(join(folder, "ca.crt"), "utf8"), key: readFileSync(join(folder, "ca.key"), "utf8") },
  clock,
);
const journal = new SqliteJournal({ path: join(folder, "state.db") });
const server = new ApiServer({ clock, journal, history: { ms: 4_000, changes: 2_000 } });
const { port } = await listen(server.guard, {
  tls: { ...authority.server("kube-apiserver", SERVER_NAMES), clientCa: authority.cert },
  onError: (error, { method, path }) => console.error(`${method} ${path}:`, error),
  clock,
});
process.stdout.write(`${JSON.stringify({ port, revision: server.store.revision })}\n`);
// Who is killed has no time to keep what was compiled, and would start slowly ever again.
flushCompileCache();
// Nobody is left to serve when the soak itself is gone.
process.stdin.on("end", () => process.exit(0)).resume();
