import { spawn } from "node:child_process";
import {
  type Exploration,
  type ExplorationPart,
  type ExploreProgress,
  type Finding,
  mergedParts,
} from "@konverge/testing";
import { startedExploreWorker } from "../started-files.ts";
import { UsageError } from "../usage-error.ts";
import type { GoExploration } from "./explore-go.ts";
import type { ExploringProcess, ModuleExploration } from "./explore-module.ts";

/** What a worker is given. */
export interface WorkerTask {
  readonly options: ModuleExploration | GoExploration;
  readonly part: ExplorationPart;
}

/** What a worker is sent when it has to end with what it has found so far. */
export const STOP = "stop";

/** What a worker says: how far it is, and at last what it found or why it could not. */
export type WorkerMessage =
  | { readonly progress: ExploreProgress }
  | { readonly objects: string }
  | { readonly finding: Finding }
  | { readonly exploration: Exploration }
  | { readonly problem: string; readonly isUsage: boolean };

/** Explores a module or a Go program in several processes, each of which tries a part of the faults. */
export async function exploreInParallel(
  options: ModuleExploration | GoExploration,
  workers: number,
  { onProgress, onObjects, onFinding, signal }: Omit<ExploringProcess, "part" | "loaded">,
): Promise<Exploration> {
  const latest = new Map<number, ExploreProgress>();
  const stop = new AbortController();
  const explored = Array.from({ length: workers }, (_, i) => {
    const part = { number: i + 1, of: workers };
    return explorePart({ options, part }, stop.signal, signal, (message) => {
      if ("finding" in message) onFinding(message.finding);
      if ("objects" in message && part.number === 1) onObjects(message.objects);
      if (!("progress" in message)) return;
      latest.set(i, message.progress);
      onProgress(sum([...latest.values()], message.progress.tried));
    });
  });
  try {
    return mergedParts(await Promise.all(explored));
  } finally {
    // If one has failed, the others work for nothing.
    stop.abort();
    await Promise.allSettled(explored);
  }
}

function sum(all: readonly ExploreProgress[], tried: string): ExploreProgress {
  const total = (count: (one: ExploreProgress) => number) => all.reduce((so, one) => so + count(one), 0);
  return {
    done: total((one) => one.done),
    total: total((one) => one.total),
    findings: total((one) => one.findings),
    tried,
  };
}

function explorePart(
  task: WorkerTask,
  stop: AbortSignal,
  end: AbortSignal | undefined,
  onMessage: (message: WorkerMessage) => void,
) {
  // What an operator prints is not part of the result.
  const [program, ...args] = startedExploreWorker();
  const child = spawn(program, args, {
    stdio: ["ignore", 2, 2, "ipc"],
    serialization: "advanced",
    windowsHide: true,
  });
  const { promise, resolve, reject } = Promise.withResolvers<Exploration>();
  const { number, of } = task.part;
  child.on("message", (sent) => {
    const message = sent as WorkerMessage;
    if ("exploration" in message) resolve(message.exploration);
    else if ("problem" in message)
      reject(message.isUsage ? new UsageError(message.problem) : new Error(message.problem));
    else onMessage(message);
  });
  child.once("error", reject);
  child.once("exit", (code, signal) =>
    reject(new Error(`worker ${number} of ${of} ended with ${signal ?? `exit code ${code}`}: see the output above`)),
  );
  stop.addEventListener("abort", () => child.kill("SIGKILL"));
  end?.addEventListener("abort", () => child.connected && child.send(STOP, () => {}));
  child.send(task, () => {});
  return promise;
}
