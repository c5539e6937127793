import { type ChildProcess, spawn } from "node:child_process";
import { openSync, readFileSync } from "node:fs";
import { type Clock, sleep } from "@konverge/core";
import { makeFolder } from "../make-folder.ts";
import { startedCommand } from "../started-files.ts";
import { hasNodes, nodesFolder } from "./nodes-folder.ts";
import { isRunning, notedCluster, type RunningCluster, runFile, runFolder } from "./running-clusters.ts";
import { takeBack } from "./take-back.ts";

/** Starts `konverge up` as a separate process and returns when it is ready. Its output goes to a file. */
export async function upInBackground(name: string, args: readonly string[]): Promise<RunningCluster> {
  const logFile = runFile(name, "log");
  const folder = runFolder();
  makeFolder(folder, `the folder ${folder}`);
  const log = openSync(logFile, "w", 0o600);
  const [program, ...words] = startedCommand("konverge");
  const child = spawn(program, [...words, "up", ...args], {
    detached: true,
    windowsHide: true,
    stdio: ["ignore", log, log, "ipc"],
  });
  await ready(child, logFile);
  child.disconnect();
  child.unref();
  return notedCluster(name)!;
}

function ready(child: ChildProcess, logFile: string): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once("message", () => resolve());
    child.once("error", reject);
    child.once("exit", () => {
      const said = readFileSync(logFile, "utf8").trim();
      reject(new Error(said.replace(/^konverge: /, "")));
    });
  });
}

/** How long a cluster is given to end by itself, in seconds; one with real nodes removes these first. */
export const graceSeconds = (cluster: string): number => (hasNodes(cluster) ? 60 : 10);
/** How long a process that was killed may take to be gone. */
const GONE_SECONDS = 10;

/** How a cluster ended: by itself, or because it did not and was killed. */
export type Ended = "ended" | "killed";

/** Ends a cluster that `konverge up` started. Undefined when there is none of that name. */
export async function down(name: string, clock: Clock): Promise<Ended | undefined> {
  const noted = notedCluster(name);
  if (!noted && !hasNodes(name)) return undefined;
  const ended = noted && (await isRunning(noted)) ? await end(noted.pid, clock, graceSeconds(name)) : "ended";
  // A process that was killed leaves its traces behind; one that ended by itself has removed them.
  if (hasNodes(name)) {
    const { removeLinuxNodes } = await import("@konverge/linux-node");
    await removeLinuxNodes(nodesFolder(name), clock);
  }
  if (noted && notedCluster(name)) await takeBack(noted);
  return ended;
}

/** Asks a process to end, and kills it when it does not: one that is stuck does not even hear of it. */
async function end(pid: number, clock: Clock, grace: number): Promise<Ended> {
  signal(pid, "SIGTERM");
  if (await isGone(pid, clock, grace)) return "ended";
  signal(pid, "SIGKILL");
  if (await isGone(pid, clock, GONE_SECONDS)) return "killed";
  throw new Error(`process ${pid} was killed and is still there: it is waiting for the kernel, see "ps ${pid}"`);
}

async function isGone(pid: number, clock: Clock, seconds: number): Promise<boolean> {
  const deadline = clock.monotonic() + seconds * 1000;
  while (isAlive(pid)) {
    if (clock.monotonic() > deadline) return false;
    await sleep(clock, 20);
  }
  return true;
}

/** Sends a signal to a process that may be gone by now. */
function signal(pid: number, name: "SIGTERM" | "SIGKILL"): void {
  if (isAlive(pid)) process.kill(pid, name);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
