import { engineFile } from "./engine-file.ts";
import { type RenderLimits, RenderThread } from "./render-thread.ts";

/** Threads for all templates of a process, by their limits: each has a compiled engine. */
const threads = new Map<string, RenderThread>();

/** The thread with these limits. */
export function sharedThread(limits: RenderLimits): RenderThread {
  const key = JSON.stringify([limits.timeMs, limits.memoryBytes]);
  const thread = threads.get(key) ?? new RenderThread(engineFile(), limits);
  threads.set(key, thread);
  return thread;
}
