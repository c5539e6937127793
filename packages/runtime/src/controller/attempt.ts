import type { Clock, Timer } from "@konverge/core";

export interface AttemptOptions {
  clock: Clock;
  /** Milliseconds until its signal fires. */
  deadline: number;
  /** Others who may interrupt it. */
  signals: readonly (AbortSignal | undefined)[];
  label: string;
}

/** A reconcile has taken longer than its deadline allows. */
export class DeadlineError extends Error {
  override readonly name = "DeadlineError";
}

/** How long work may take to notice that its signal has fired, before it is left to itself. */
const ABORT_GRACE = 5_000;

/**
 * Does some work under a deadline. The work's signal fires when its time is up or when it is interrupted; if it does
 * not end then, it is abandoned: the attempt fails, and whatever the work still does is of no consequence, since the
 * client it was given sends nothing any more.
 */
export async function attempt<R>(work: (signal: AbortSignal) => Promise<R>, options: AttemptOptions): Promise<R> {
  const { clock, deadline, label } = options;
  const interrupted = new AbortController();
  const { signal } = interrupted;
  const late = () => interrupted.abort(new DeadlineError(`${label} has taken longer than ${deadline} ms`));
  const timer = clock.after(deadline, late, { label: `deadline of ${label}` });
  const unlink = options.signals.map((other) => other && link(other, interrupted));
  let grace: Timer | undefined;
  const abandoned = new Promise<never>((_, reject) => {
    const onAbort = () => {
      grace = clock.after(ABORT_GRACE, () => reject(signal.reason), { label: `abandoning ${label}` });
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([work(signal), abandoned]);
  } finally {
    timer.cancel();
    grace?.cancel();
    for (const cut of unlink) cut?.();
  }
}

/**
 * Aborts with another signal, until the link is cut. What AbortSignal.any makes stays known to its sources until it is
 * collected, and these live as long as the process.
 */
function link(source: AbortSignal, target: AbortController): () => void {
  const follow = () => target.abort(source.reason);
  if (source.aborted) follow();
  else source.addEventListener("abort", follow, { once: true });
  return () => source.removeEventListener("abort", follow);
}
