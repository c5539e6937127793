import type { Clock } from "@konverge/core";

/** Runs a task with a signal that aborts after a while, and when another signal does. */
export async function withDeadline<T>(
  clock: Clock,
  ms: number,
  task: (signal: AbortSignal) => Promise<T>,
  other?: AbortSignal,
): Promise<T> {
  const controller = new AbortController();
  const late = () => controller.abort(new Error("context deadline exceeded"));
  const timer = clock.after(ms, late, { background: true, label: "deadline of an aggregated API server" });
  try {
    return await task(other ? AbortSignal.any([controller.signal, other]) : controller.signal);
  } finally {
    timer.cancel();
  }
}
