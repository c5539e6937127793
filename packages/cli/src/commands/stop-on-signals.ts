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
 * Fires when npm, of which this process is a script, is gone: an npm that is killed leaves its scripts running. (Windows keeps the
 * number of a parent that is gone, and it never fires.)
 */
export function stopWithNpm(env: NodeJS.ProcessEnv = process.env, clock: Clock = realClock()): AbortSignal {
  const stop = new AbortController();
  const parent = process.ppid;
  const look = () => {
    if (process.ppid === parent) clock.after(PERIOD, look, { label: "npm", background: true });
    else stop.abort();
  };
  if (env["npm_lifecycle_event"]) look();
  return stop.signal;
}
