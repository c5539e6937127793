// Started by `exploreInParallel`, as a separate process: explores a part of what a module exports, or of a Go program.
import { enableCompileCache } from "node:module";
import type { ExploreProgress, Finding } from "@konverge/testing";
import { recordLoadedModules } from "./explore/code-version.ts";
import { STOP, type WorkerMessage, type WorkerTask } from "./explore/explore-in-parallel.ts";
import { UsageError } from "./usage-error.ts";

enableCompileCache();
const loaded = recordLoadedModules();
const send = (message: WorkerMessage, sent = () => {}) => process.send?.(message, sent);

// The process that started this one is gone.
process.once("disconnect", () => process.exit(1));

// Ctrl-C reaches every process of the terminal: the one that started this one collects what was found, and ends it.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});

const stop = new AbortController();
process.on("message", (message) => {
  if (message === STOP) stop.abort();
});

process.once("message", async ({ options, part }: WorkerTask) => {
  const self = {
    part,
    loaded,
    onProgress: (progress: ExploreProgress) => send({ progress }),
    onFinding: (finding: Finding) => send({ finding }),
    signal: stop.signal,
    onObjects: (objects: string) => send({ objects }),
  };
  const exploring =
    "wasm" in options
      ? import("./explore/explore-go.ts").then(({ exploreGoProgram }) => exploreGoProgram(options, self))
      : import("./explore/explore-module.ts").then(({ exploreModule }) => exploreModule(options, self));
  const answer = await exploring.then(
    (exploration): WorkerMessage => ({ exploration }),
    (error: unknown): WorkerMessage => ({
      problem: error instanceof Error ? error.message : String(error),
      isUsage: error instanceof UsageError,
    }),
  );
  // Modules may have left timers and connections behind.
  send(answer, () => process.exit(0));
});
