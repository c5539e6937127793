import { readFileSync } from "node:fs";
import { type Clock, realClock } from "@konverge/core";

/** Milliseconds after which it is noticed that npm was killed. */
const PERIOD = 1000;

/**
 * Fires with the first signal that asks this process to end; a second one ends it at once, but not as long as `unfinished`
 * returns what would be left behind: that is printed instead.
 */
export function stopOnSignals(unfinished: () => string | undefined = () => undefined): AbortSignal {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      if (!stop.signal.aborted) return stop.abort();
      const reason = unfinished();
      if (reason === undefined) process.exit(130);
      console.error(`konverge: ${reason}`);
    });
  }
  return stop.signal;
}

/**
 * Fires when npm or npx, which started this process, is gone: one that is killed leaves what it started running. (Windows keeps the
 * number of a parent that is gone, and it never fires.)
 */
export function stopWithNpm(env: NodeJS.ProcessEnv = process.env, clock: Clock = realClock()): AbortSignal {
  const stop = new AbortController();
  const starters = startersOf();
  const look = () => {
    if (startersOf() === starters) clock.after(PERIOD, look, { label: "npm", background: true });
    else stop.abort();
  };
  if (env["npm_lifecycle_event"]) look();
  return stop.signal;
}

/** The parent of this process; if npm put a shell in between, which outlives it, also the shell's parent where that can be read. */
function startersOf(): string {
  const { ppid } = process;
  try {
    // PID (NAME) STATE PPID …
    const [, name = "", parent] = /^\d+ \((.*)\) \S (\d+)/s.exec(readFileSync(`/proc/${ppid}/stat`, "utf8")) ?? [];
    return /^(ba|da|z)?sh$/.test(name) ? `${ppid} ${parent}` : String(ppid);
  } catch {
    return String(ppid);
  }
}
