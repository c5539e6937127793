import type { Entry } from "../src/protocol.ts";

/** Logs of pods arrive late, but not later than this number of entries. */
const LATE = 500;

/** The newest entries in the order of their time, the newest first: they arrive from several sources. */
export function latestEntries(entries: readonly Entry[], count: number): Entry[] {
  const recent = entries.slice(-Math.max(LATE, count));
  return recent.toSorted((a, b) => b.at - a.at || b.id - a.id).slice(0, count);
}
