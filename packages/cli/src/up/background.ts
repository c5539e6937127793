import { type ChildProcess, spawn } from "node:child_process";
import { openSync, readFileSync } from "node:fs";
import { type Clock, sleep } from "@konverge/core";
import { makeFolder } from "../make-folder.ts";
import { startedFile } from "../started-files.ts";
import { isRunning, notedCluster, type RunningCluster, runFile, runFolder } from "./running-clusters.ts";
import { takeBack } from "./take-back.ts";

/** Starts `konverge up` as a process of its own and returns when it is ready. Its output goes to a file. */
export async function upInBackground(name: string, args: readonly string[]): Promise<RunningCluster> {
  const logFile = runFile(name, "log");
  const folder = runFolder();
  makeFolder(folder, `the folder ${folder}`);
  const log = openSync(logFile, "w", 0o600);
  const child = spawn(process.execPath, [startedFile("konverge.js"), "up", ...args], {
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

/** How long a cluster is given to end by itself, in milliseconds. */
const PATIENCE = 10_000;

/** Ends a cluster that `konverge up` started. False when there is none of that name. */
export async function down(name: string, clock: Clock): Promise<boolean> {
  const noted = notedCluster(name);
  if (!noted) return false;
  if (await isRunning(noted)) {
    process.kill(noted.pid, "SIGTERM");
    const deadline = clock.monotonic() + PATIENCE;
    while (isAlive(noted.pid)) {
      if (clock.monotonic() > deadline) throw new Error(`process ${noted.pid} does not end: look at what it does`);
      await sleep(clock, 20);
    }
  }
  // A process that was killed leaves its traces behind; one that ended by itself has removed them.
  if (notedCluster(name)) await takeBack(noted);
  return true;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
