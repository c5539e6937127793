import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { StringDecoder } from "node:string_decoder";
import type { ContainerProcess } from "./image.ts";
import { endsWithUs } from "./survivors.ts";

/** A process of this machine that runs in place of a container. */
export interface ContainerChild {
  readonly file: string;
  readonly args: readonly string[];
  /** Its whole environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** A channel for messages, for programs in Node: what it is sent first, and who receives what it sends. */
  readonly channel?: { readonly first: object; receive(message: unknown): void };
}

/**
 * Runs a process in place of a container: its output is the container's log, its exit code the container's. It receives
 * SIGTERM when the container is to stop and SIGKILL when its grace period is over, and does not outlive this process.
 */
export async function runChild(container: ContainerProcess, child: ContainerChild): Promise<number> {
  if (container.killed.aborted) return 137;
  const { file, args, env, cwd, channel } = child;
  const started = spawn(file, [...args], {
    env,
    stdio: ["ignore", "pipe", "pipe", ...(channel ? (["ipc"] as const) : [])],
    windowsHide: true,
    // A separate process group, so that what a shell starts ends with it.
    detached: process.platform !== "win32",
    ...(cwd !== undefined && { cwd }),
  });
  if (channel) {
    started.on("message", (message) => channel.receive(message));
    // If the process has ended before, its output and exit code have the reason.
    started.send(channel.first, () => {});
  }
  const ended = started.pid === undefined ? undefined : endsWithUs(started.pid);
  return await followed(started, container).finally(ended);
}

async function followed(child: ChildProcess, container: ContainerProcess): Promise<number> {
  for (const stream of [child.stdout, child.stderr]) {
    const decoder = new StringDecoder("utf8");
    stream?.on("data", (chunk: Buffer) => container.write(decoder.write(chunk)));
  }
  const signal = (name: "SIGTERM" | "SIGKILL") => () => send(child, name);
  const [onStop, onKill] = [signal("SIGTERM"), signal("SIGKILL")];
  container.stop.addEventListener("abort", onStop, { once: true });
  container.killed.addEventListener("abort", onKill, { once: true });
  if (container.stop.aborted) onStop();
  const ended = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  const failed = once(child, "error").then(([error]) => Promise.reject(error as Error));
  failed.catch(() => {});
  try {
    const [code, by] = await Promise.race([ended, failed]);
    return code ?? 128 + (by ? constants.signals[by] : 0);
  } finally {
    container.stop.removeEventListener("abort", onStop);
    container.killed.removeEventListener("abort", onKill);
  }
}

function send(child: ChildProcess, name: "SIGTERM" | "SIGKILL"): void {
  try {
    if (child.pid !== undefined && process.platform !== "win32") process.kill(-child.pid, name);
    else child.kill(name);
  } catch {
    // It has already exited.
  }
}
