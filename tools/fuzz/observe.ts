// Loaded before the command line in the server's process: reports over the channel to its parent what it does to its machine,
// what nothing caught, and how much memory it has.
import { realpathSync } from "node:fs";
import { sep } from "node:path";
import { isWrite, recordMachineUse } from "../../packages/cli/test/machine-use.ts";

/** What the parent hears. */
export type Report =
  | { type: "uncaught"; text: string }
  | { type: "cpu"; ms: number }
  | { type: "memory"; rss: number; used: number; final: boolean }
  | { type: "machine"; writes: string[]; processes: string[] };

/** Its data, and the home in which `konverge up` notes that it runs. */
const allowed = (JSON.parse(process.env.FUZZ_FOLDERS!) as string[]).map((folder) => realpathSync(folder) + sep);
const use = recordMachineUse();
const report = (message: Report) => process.send?.(message);
const collect = (globalThis as { gc?: () => void }).gc;

function memory(final: boolean): void {
  if (final) collect?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  report({ type: "memory", rss, used: heapUsed + external, final });
}

/** Of the main thread, which answers all requests. */
function cpu(): void {
  const { user, system } = process.threadCpuUsage();
  report({ type: "cpu", ms: (user + system) / 1000 });
}

process.on("unhandledRejection", (reason) =>
  report({ type: "uncaught", text: reason instanceof Error ? (reason.stack ?? reason.message) : String(reason) }),
);
process.on("uncaughtExceptionMonitor", (error) => report({ type: "uncaught", text: error.stack ?? error.message }));
process.on("message", (question) => {
  if (question === "memory") memory(false);
  else if (question === "cpu") cpu();
  else if (question === "memory now and after a collection") memory(true);
  else if (question === "machine") {
    const writes = use.files.filter(
      (one) => isWrite(one) && !allowed.some((folder) => `${one.path}${sep}`.startsWith(folder)),
    );
    report({
      type: "machine",
      writes: [...new Set(writes.map(({ operation, path }) => `${operation} ${path}`))],
      processes: use.processes,
    });
  }
});
// The channel alone does not keep the server running.
process.channel?.unref();
