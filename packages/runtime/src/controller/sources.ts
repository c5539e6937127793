import { backoffAfter, type ObjectKey, sleep } from "@konverge/core";
import type { ReconcileSource, ReconcileSourceContext } from "../definition/watched.ts";

export interface SourceRun {
  context: ReconcileSourceContext;
  add: (key: ObjectKey) => void;
  onError: (error: unknown) => void;
}

/** How long to wait before a source that ended or failed is asked again. */
const BACKOFF = { initial: 1_000, longest: 60_000 };

/** Takes keys from a source until its signal fires. */
export async function runSource(source: ReconcileSource, { context, add, onError }: SourceRun): Promise<void> {
  const { clock, signal } = context;
  let failures = 0;
  while (!signal.aborted) {
    try {
      for await (const key of source(context)) {
        if (signal.aborted) return;
        failures = 0;
        add(key);
      }
    } catch (error) {
      if (signal.aborted) return;
      onError(error);
    }
    const wait = backoffAfter(failures++, BACKOFF, clock.random);
    await sleep(clock, wait, { signal, background: true, label: "source" }).catch(() => {});
  }
}
