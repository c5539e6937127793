import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { checkedName, isName } from "../checked-name.ts";
import { makeFolder } from "../make-folder.ts";

/** What is known of a cluster that `konverge up` started. */
export interface RunningCluster {
  readonly name: string;
  readonly pid: number;
  readonly url: string;
  readonly kubeconfig: string;
  /** The context is in the kubeconfig that kubectl reads without being told. */
  readonly merged: boolean;
  /** How many real nodes it was started with. */
  readonly realNodes?: number;
}

/** Where running clusters are noted: ~/.konverge/run, or under $KONVERGE_HOME. */
export function runFolder(env: NodeJS.ProcessEnv = process.env): string {
  return join(env["KONVERGE_HOME"] ?? join(homedir(), ".konverge"), "run");
}

/** A file about a cluster: what is noted of it, its output, or the state that it was asked to save. */
export function runFile(name: string, kind: "json" | "log" | "snapshot", folder = runFolder()): string {
  return join(folder, `${checkedName(name, "--name")}.${kind}`);
}

export function noteRunning(cluster: RunningCluster, folder = runFolder()): void {
  makeFolder(folder, `the folder ${folder}`);
  const path = runFile(cluster.name, "json", folder);
  // A process that reads it meanwhile reads the old one or the new one, and no half of either.
  const written = `${path}.${process.pid}`;
  writeFileSync(written, `${JSON.stringify(cluster, undefined, 2)}\n`, { mode: 0o600 });
  renameSync(written, path);
}

export function forgetRunning(name: string, folder = runFolder()): void {
  rmSync(runFile(name, "json", folder), { force: true });
}

/** What is noted of a cluster. A file that a machine left behind half-written when it crashed says nothing. */
export function notedCluster(name: string, folder = runFolder()): RunningCluster | undefined {
  const path = runFile(name, "json", folder);
  if (!existsSync(path)) return undefined;
  try {
    return JSON.parse(readFileSync(path, "utf8")) as RunningCluster;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export function notedNames(folder = runFolder()): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((file) => file.endsWith(".json"))
    .map((file) => file.slice(0, -".json".length))
    .filter(isName);
}

/** Whether its process runs and responds: the process id alone can belong to another process by now. */
export async function isRunning({ pid, url }: RunningCluster): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname.replace(/^\[|\]$/g, ""));
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
