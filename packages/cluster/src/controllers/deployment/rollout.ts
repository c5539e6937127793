import { controllerOf } from "@konverge/core";
import { Pod } from "@konverge/kinds";
import type { ReconcileContext } from "@konverge/runtime";
import { isTerminal } from "../workloads/pod-state.ts";
import { maxUnavailable } from "./annotations.ts";
import { byAge, newReplicas, scaleSet, totalReplicas } from "./replica-sets.ts";
import { allSets, replicasOf, type Sets } from "./sets.ts";

/** Moves a rolling update on by one step: grows the new set, or shrinks old ones. True if anything was changed. */
export async function rollOn(context: ReconcileContext, sets: Sets): Promise<boolean> {
  return (await growNew(context, sets)) || (await shrinkOld(context, sets));
}

async function growNew(context: ReconcileContext, sets: Sets): Promise<boolean> {
  const { deployment } = sets;
  const current = sets.current!;
  const { replicas = 1 } = deployment.spec;
  const size = replicasOf(current);
  if (size === replicas) return false;
  const next = size > replicas ? replicas : newReplicas(deployment, size, totalReplicas(allSets(sets)));
  if (next === size) return false;
  await scaleSet(context, deployment, current, next);
  return true;
}

async function shrinkOld(context: ReconcileContext, sets: Sets): Promise<boolean> {
  const { deployment, old } = sets;
  const current = sets.current!;
  if (totalReplicas(old) === 0) return false;
  const least = (deployment.spec.replicas ?? 1) - maxUnavailable(deployment);
  const missingNew = replicasOf(current) - (current.status?.availableReplicas ?? 0);
  const most = totalReplicas(allSets(sets)) - least - missingNew;
  if (most <= 0) return false;
  const sorted = byAge(old);
  // Pods that are not available are no loss.
  let removed = 0;
  for (const [i, set] of sorted.entries()) {
    const unhealthy = Math.max(0, replicasOf(set) - (set.status?.availableReplicas ?? 0));
    const fewer = Math.min(most - removed, unhealthy);
    if (fewer <= 0) continue;
    sorted[i] = await scaleSet(context, deployment, set, replicasOf(set) - fewer);
    removed += fewer;
  }
  const available = [...sorted, current].reduce((total, { status }) => total + (status?.availableReplicas ?? 0), 0);
  let surplus = available - least;
  for (const set of sorted) {
    const fewer = Math.min(replicasOf(set), surplus);
    if (fewer <= 0) continue;
    await scaleSet(context, deployment, set, replicasOf(set) - fewer);
    surplus -= fewer;
    removed += fewer;
  }
  return removed > 0;
}

/** Stops all old pods. True while some are being stopped or still run: the new ones come after them. */
export async function stopOld(context: ReconcileContext, { deployment, current, old }: Sets): Promise<boolean> {
  const active = old.filter((set) => replicasOf(set) > 0);
  for (const set of active) await scaleSet(context, deployment, set, 0);
  if (active.length > 0) return true;
  const uids = new Set(old.map(({ metadata }) => metadata.uid));
  return context.cache.list(Pod, deployment.metadata.namespace).some((pod) => {
    const owner = controllerOf(pod)?.uid;
    return owner !== undefined && owner !== current?.metadata.uid && uids.has(owner) && !isTerminal(pod);
  });
}
