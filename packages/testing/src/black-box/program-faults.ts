import type { Random } from "@konverge/core";
import { pointKey } from "../explorer/fault.ts";
import { type FaultCandidate, faultCandidates } from "../explorer/fault-candidates.ts";
import type { FaultFamily } from "../explorer/fault-family.ts";
import type { ExploredRun } from "../explorer/oracle.ts";

/**
 * Families of faults that can happen to a program over the network. Its clock, its threads and the servers of its webhooks
 * are out of reach.
 */
export const PROGRAM_FAULT_FAMILIES = [
  "crash",
  "stale",
  "error",
  "watch",
  "time travel",
  "slow",
  "writer",
  "user",
  "poor cluster",
  "application",
] as const satisfies readonly FaultFamily[];

/** Long enough to be noticed; every run waits for them. */
const DURATIONS = {
  slow: 1_500,
  stale: 1_500,
  interrupted: 1_000,
  pause: 0,
  webhook: 0,
  refused: 2_500,
  held: 1_500,
  down: 3_000,
  trouble: 3_000,
};

/**
 * The faults to try on a program, those first that find most, without those to which another is equivalent. Only points that
 * both runs without faults have can be found again.
 */
export function programFaults(
  runs: readonly [ExploredRun, ExploredRun],
  families: readonly FaultFamily[],
  random: Random,
): { faults: FaultCandidate[]; pruned: number } {
  const stable = pointsOf(runs[1]);
  // A client that streams its lists requests the latest state, which an API server that lags does not serve.
  const isListing = runs[0].timeline.some(({ who, what }) => who === "operator" && what.startsWith("list "));
  const possible = families.filter((family) => family !== "time travel" || isListing);
  const all = possible.flatMap((family) => [
    ...faultCandidates(runs[0], [family], random, DURATIONS),
    ...(family === "stale" ? staleResources(runs[0]) : []),
  ]);
  const distinct = new Map<string, FaultCandidate>();
  for (const one of all) if (stable.has(pointKey(one.fault.at)) && !distinct.has(one.key)) distinct.set(one.key, one);
  return { faults: [...distinct.values()], pruned: all.length - distinct.size };
}

/** After each write, the cache of the written resource lags while those of others do not. */
function staleResources({ timeline }: ExploredRun): FaultCandidate[] {
  return timeline.flatMap(({ point, type, what, state = "" }) => {
    const resource = /^\S+ ([^/]+)/.exec(what)?.[1];
    if (point?.on !== "request" || type !== "write" || resource === undefined) return [];
    const fault = { type: "stale", at: point, ms: DURATIONS.stale, resource } as const;
    return [{ fault, key: `stale ${resource}|${what}|${state}` }];
  });
}

function pointsOf({ timeline }: ExploredRun): Set<string> {
  return new Set(timeline.flatMap(({ point }) => (point ? [pointKey(point)] : [])));
}
