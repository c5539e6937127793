import type { Timeline } from "./timeline.ts";

/**
 * A response that decides something: accepted, or rejected for good. Not those after which clients try again, nor what a fault refuses
 * for a while.
 */
const DECIDED = /^(arrived late: )?([23]\d\d|4(?!29)\d\d)(?!, (a webhook refused it|the quota is exhausted)$)/;

/**
 * The writes of the operator that failed when they were last tried, because the API server could not be reached, had too much to do or
 * failed itself. They are tried again, possibly minutes later.
 */
export function unansweredWrites(timeline: Timeline): readonly string[] {
  const results = new Map<string, string>();
  for (const { who, type, what, result } of timeline) {
    if (who === "operator" && type === "write") results.set(what, result ?? "");
  }
  return [...results].flatMap(([what, result]) => (DECIDED.test(result) ? [] : [what]));
}
