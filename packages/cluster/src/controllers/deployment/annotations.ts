import type { Deployment, ReplicaSet } from "@konverge/kinds";

/** The number of a template among those a Deployment has had. */
export const REVISION = "deployment.kubernetes.io/revision";
/** Earlier numbers of the same template. */
const REVISION_HISTORY = "deployment.kubernetes.io/revision-history";
/** The Deployment's size when a ReplicaSet was last scaled: distinguishes a scale-up or -down from a rollout. */
export const DESIRED = "deployment.kubernetes.io/desired-replicas";
/** The same, with the surge on top. */
export const MAX = "deployment.kubernetes.io/max-replicas";

const NOT_COPIED = new Set([
  "kubectl.kubernetes.io/last-applied-configuration",
  REVISION,
  REVISION_HISTORY,
  DESIRED,
  MAX,
  "deprecated.deployment.rollback.to",
]);

const LONGEST_HISTORY = 2000;

export type Annotations = Record<string, string>;

/** The revision of a Deployment or a ReplicaSet, which may be any 64-bit integer; 0 if it has none. */
export function revisionOf({ metadata }: Deployment | ReplicaSet): bigint {
  return revisionIn(metadata.annotations?.[REVISION]);
}

function revisionIn(text: string | undefined): bigint {
  return text !== undefined && /^-?\d+$/.test(text) ? BigInt(text) : 0n;
}

/** The revision after all of these. */
export function nextRevision(sets: readonly ReplicaSet[]): bigint {
  return sets.map(revisionOf).reduce((highest, one) => (one > highest ? one : highest), 0n) + 1n;
}

/** The desired annotations of the new ReplicaSet, which has the Deployment's current template, at this revision. */
export function annotationsFor(
  deployment: Deployment,
  known: Annotations,
  revision: bigint,
  isNew: boolean,
): Annotations {
  const next: Annotations = { ...known };
  for (const [key, value] of Object.entries(deployment.metadata.annotations ?? {})) {
    if (!NOT_COPIED.has(key)) next[key] = value;
  }
  const before = known[REVISION];
  if (revisionIn(before) < revision) {
    next[REVISION] = String(revision);
    if (before !== undefined && !isNew) {
      const history = (known[REVISION_HISTORY] ?? "").split(",").filter(Boolean);
      if (!history.includes(before)) history.push(before);
      while (history.join(",").length > LONGEST_HISTORY) history.shift();
      next[REVISION_HISTORY] = history.join(",");
    }
  }
  return isNew ? { ...next, ...sizeAnnotations(deployment) } : next;
}

/** What a ReplicaSet says of the Deployment's size at the time it was scaled. */
export function sizeAnnotations(deployment: Deployment): Annotations {
  const replicas = deployment.spec.replicas ?? 1;
  return { [DESIRED]: String(replicas), [MAX]: String(replicas + maxSurge(deployment)) };
}

/** How many pods there may be beyond the Deployment's size during a rollout. */
export function maxSurge(deployment: Deployment): number {
  return rolloutLimits(deployment).surge;
}

/** How many pods may be missing during a rollout. */
export function maxUnavailable(deployment: Deployment): number {
  const { replicas = 1, strategy } = deployment.spec;
  if (strategy?.type === "Recreate" || replicas === 0) return 0;
  return Math.min(rolloutLimits(deployment).unavailable, replicas);
}

function rolloutLimits({ spec }: Deployment): { surge: number; unavailable: number } {
  const { replicas = 1, strategy } = spec;
  if (strategy?.type === "Recreate") return { surge: 0, unavailable: 0 };
  const { maxSurge = "25%", maxUnavailable = "25%" } = strategy?.rollingUpdate ?? {};
  const surge = amount(maxSurge, replicas, Math.ceil);
  const unavailable = amount(maxUnavailable, replicas, Math.floor);
  // Both rounded to nothing, the rollout could not move.
  return surge === 0 && unavailable === 0 ? { surge, unavailable: 1 } : { surge, unavailable };
}

function amount(value: number | string, total: number, round: (value: number) => number): number {
  return typeof value === "number" ? value : round((Number.parseInt(value, 10) * total) / 100);
}
