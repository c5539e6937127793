import { type ObjectKey, sleep } from "@konverge/core";
import type { ReconcileSource, ReconcileSourceContext } from "./watched.ts";

export interface SourceRun {
  context: ReconcileSourceContext;
  add: (key: ObjectKey) => void;
  onError: (error: unknown) => void;
}

/** Milliseconds before a source that ended or failed is asked again: it doubles up to the longest. */
const WAIT = { initial: 1_000, longest: 60_000 };

/** Takes keys from a source until its signal fires. */
export async function runSource(source: ReconcileSource, { context, add, onError }: SourceRun): Promise<void> {
  const { clock, signal } = context;
  let wait = WAIT.initial;
  while (!signal.aborted) {
    try {
      for await (const key of source(context)) {
        if (signal.aborted) return;
        wait = WAIT.initial;
        add(key);
      }
    } catch (error) {
      if (signal.aborted) return;
      onError(error);
    }
    await sleep(clock, wait, { signal, background: true, label: "source" }).catch(() => {});
    wait = Math.min(wait * 2, WAIT.longest);
  }
}
