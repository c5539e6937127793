import type { Deployment, ReplicaSet } from "@konverge/kinds";
import type { ReconcileContext } from "@konverge/runtime";
import { DESIRED, MAX, maxSurge } from "./annotations.ts";
import { byAge, scaleSet, totalReplicas } from "./replica-sets.ts";
import { allSets, replicasOf, type Sets } from "./sets.ts";

/** Whether the Deployment's size has changed since its sets were last scaled. */
export function isResized({ deployment, ...sets }: Sets): boolean {
  const wanted = String(deployment.spec.replicas ?? 1);
  return allSets({ deployment, ...sets }).some((set) => {
    const desired = set.metadata.annotations?.[DESIRED];
    return replicasOf(set) > 0 && desired !== undefined && desired !== wanted;
  });
}

/** Brings the sets to the Deployment's size without moving a rollout on: what is under way keeps its proportions. */
export async function scaleSets(context: ReconcileContext, sets: Sets): Promise<void> {
  const { deployment, current, old } = sets;
  const { replicas = 1, strategy } = deployment.spec;
  const active = allSets(sets).filter((set) => replicasOf(set) > 0);
  const only = active.length === 1 ? active[0] : active.length === 0 ? (current ?? byAge(old).at(-1)) : undefined;
  if (only) {
    await scaleSet(context, deployment, only, replicas);
    return;
  }
  if (active.length === 0) return;
  if (current && isSaturated(deployment, current)) {
    for (const set of old) if (replicasOf(set) > 0) await scaleSet(context, deployment, set, 0);
    return;
  }
  if (strategy?.type === "Recreate") return;
  await scaleInProportion(context, deployment, active);
}

function isSaturated(deployment: Deployment, set: ReplicaSet): boolean {
  const { replicas = 1 } = deployment.spec;
  return (
    replicasOf(set) === replicas &&
    set.metadata.annotations?.[DESIRED] === String(replicas) &&
    (set.status?.availableReplicas ?? 0) === replicas
  );
}

async function scaleInProportion(
  context: ReconcileContext,
  deployment: Deployment,
  active: readonly ReplicaSet[],
): Promise<void> {
  const { replicas = 1 } = deployment.spec;
  const allowed = replicas > 0 ? replicas + maxSurge(deployment) : 0;
  const toAdd = allowed - totalReplicas(active);
  // The largest get the remainder: when growing, the newer of equals, else the older.
  const aged = toAdd > 0 ? byAge(active).reverse() : byAge(active);
  const sorted = aged.sort((a, b) => replicasOf(b) - replicasOf(a));
  const sizes = new Map<ReplicaSet, number>();
  let added = 0;
  for (const set of sorted) {
    const share = toAdd === 0 ? 0 : shareOf(deployment, set, toAdd, added);
    sizes.set(set, replicasOf(set) + share);
    added += share;
  }
  for (const [i, set] of sorted.entries()) {
    const leftover = i === 0 && toAdd !== 0 ? toAdd - added : 0;
    await scaleSet(context, deployment, set, Math.max(0, sizes.get(set)! + leftover));
  }
}

function shareOf(deployment: Deployment, set: ReplicaSet, toAdd: number, added: number): number {
  const size = replicasOf(set);
  if (size === 0 || toAdd === added) return 0;
  const left = toAdd - added;
  const fraction = fractionOf(deployment, set);
  return toAdd > 0 ? Math.min(fraction, left) : Math.max(fraction, left);
}

/** The share of a ReplicaSet in a change of the Deployment's size (proportional scaling). */
function fractionOf(deployment: Deployment, set: ReplicaSet): number {
  const { replicas = 1 } = deployment.spec;
  const size = replicasOf(set);
  if (replicas === 0) return -size;
  const before = Number(set.metadata.annotations?.[MAX] ?? deployment.status?.replicas ?? 0) || size;
  return Math.round((size * (replicas + maxSurge(deployment))) / before) - size;
}
