import type { FaultType } from "./fault.ts";

/** Families of faults that happen at a point of a run, in the order in which they are documented. */
export const POINT_FAMILIES = [
  "crash",
  "error",
  "slow",
  "stale",
  "time travel",
  "watch",
  "pause",
  "user",
  "writer",
  "cluster",
  "poor cluster",
  "application",
  "external",
] as const;

/** Families that disturb a scenario as a whole and are judged in their own way. */
export const PASS_FAMILIES = ["deletion", "drift", "spec", "crd deletion", "rbac"] as const;

/**
 * What an exploration tries.
 *
 * At each point of a run: `crash` kills the process at its writes, or lets it be down for a time; `error` fails requests; `slow` delays responses; `stale`
 * lets caches lag; `time travel` restarts the process on an API server that lags; `watch` interrupts watches and lets them
 * expire; `pause` pauses the process past its lease; `user` does not wait, and acts between a read
 * and a write of the operator; `writer` deletes, recreates and annotates objects; `cluster` updates CRDs, loses a node, takes webhooks
 * down and moves the clock; `poor cluster` refuses by quota and by webhook, and returns short pages; `application` lets pods be
 * unready, evicted or slow to stop, and Jobs fail; `external` lets calls of external systems fail.
 *
 * On the scenario as a whole: `deletion` deletes the objects after each write: nothing may be left. `drift` deletes each child
 * and edits each applied field: all is restored. `spec` changes each field of the spec, and back: all is as before, also after
 * a bad spec. `crd deletion` deletes the CRDs and installs them again. `rbac` removes each
 * rule of the role: with all of them nothing is forbidden, and each is needed.
 */
export type FaultFamily = (typeof POINT_FAMILIES)[number] | (typeof PASS_FAMILIES)[number];

/** All families. */
export const FAULT_FAMILIES: readonly FaultFamily[] = [...POINT_FAMILIES, ...PASS_FAMILIES];

export function isPass(family: FaultFamily): boolean {
  return (PASS_FAMILIES as readonly FaultFamily[]).includes(family);
}

/** The family that a type of fault belongs to. */
export function familyOf(type: FaultType): FaultFamily {
  return FAMILY_OF[type];
}

const FAMILY_OF: Readonly<Record<FaultType, FaultFamily>> = {
  crash: "crash",
  downtime: "crash",
  error: "error",
  cut: "error",
  "lost response": "error",
  slow: "slow",
  stale: "stale",
  "time travel": "time travel",
  "missed events": "watch",
  "watch expired": "watch",
  pause: "pause",
  "impatient user": "user",
  delete: "writer",
  edit: "writer",
  "webhook down": "cluster",
  "crd update": "cluster",
  "node lost": "cluster",
  "clock jump": "cluster",
  refused: "poor cluster",
  "short page": "poor cluster",
  application: "application",
  "external call": "external",
};
