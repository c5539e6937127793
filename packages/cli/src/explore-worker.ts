// Started by `exploreInParallel`, as a separate process: explores a part of what a module exports.
import { enableCompileCache } from "node:module";
import { recordLoadedModules } from "./explore/code-version.ts";
import type { WorkerMessage, WorkerTask } from "./explore/explore-in-parallel.ts";
import { UsageError } from "./usage-error.ts";

enableCompileCache();
const loaded = recordLoadedModules();
const send = (message: WorkerMessage, sent = () => {}) => process.send?.(message, sent);

// The process that started this one is gone.
process.once("disconnect", () => process.exit(1));

process.once("message", async ({ options, part }: WorkerTask) => {
  const answer = await import("./explore/explore-module.ts")
    .then(({ exploreModule }) =>
      exploreModule(options, {
        part,
        loaded,
        onProgress: (progress) => send({ progress }),
        onObjects: (objects) => send({ objects }),
      }),
    )
    .then(
      (exploration): WorkerMessage => ({ exploration }),
      (error: unknown): WorkerMessage => ({
        problem: error instanceof Error ? error.message : String(error),
        isUsage: error instanceof UsageError,
      }),
    );
  // Modules may have left timers and connections behind.
  send(answer, () => process.exit(0));
});
