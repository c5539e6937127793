import { resolveIntOrPercent } from "@konverge/core";
import type { DaemonSet, Pod } from "@konverge/kinds";
import type { ReconcileContext } from "@konverge/runtime";
import { isAvailable } from "../workloads/pod-state.ts";
import { hashOf } from "./daemon-pods.ts";

/** The next step of a rolling update: pods to delete, and nodes that get a new pod beside the old one. */
export interface Step {
  remove: Pod[];
  create: string[];
}

/** How far a rolling update may go. Exactly one of the two is not zero. */
export function updateLimits({ spec }: DaemonSet, desired: number): { surge: number; unavailable: number } {
  const { maxSurge = 0, maxUnavailable = 1 } = spec?.updateStrategy?.rollingUpdate ?? {};
  const surge = resolveIntOrPercent(maxSurge, desired, "up");
  const unavailable = resolveIntOrPercent(maxUnavailable, desired, "up");
  return surge === 0 && unavailable === 0 && desired > 0 ? { surge, unavailable: 1 } : { surge, unavailable };
}

/** Plans the next step. `byNode` has all nodes that should run the daemon, with the pods there that are not on their way out. */
export function planUpdate(
  { clock }: ReconcileContext,
  set: DaemonSet,
  byNode: ReadonlyMap<string, readonly Pod[]>,
  hash: string,
): Step {
  const minReadySeconds = set.spec?.minReadySeconds ?? 0;
  const { surge, unavailable } = updateLimits(set, byNode.size);
  const isUp = (pod: Pod | undefined) => pod !== undefined && isAvailable(pod, minReadySeconds, clock);
  const remove: Pod[] = [];
  const create: string[] = [];
  const candidates: { node: string; old: Pod }[] = [];
  let busy = 0;
  for (const [node, pods] of [...byNode].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const fresh = pods.find((pod) => hashOf(pod) === hash);
    const old = pods.find((pod) => hashOf(pod) !== hash);
    if (surge === 0) {
      if (old && !fresh && isUp(old)) candidates.push({ node, old });
      else {
        if (old && !fresh) remove.push(old);
        if (!fresh || old || !isUp(fresh)) busy++;
      }
    } else if (old && fresh) {
      if (isUp(fresh)) remove.push(old);
      else busy++;
    } else if (old) {
      if (isUp(old)) candidates.push({ node, old });
      else create.push(node);
    }
  }
  const room = Math.max(0, (surge === 0 ? unavailable : surge) - busy);
  for (const { node, old } of candidates.slice(0, room)) {
    if (surge === 0) remove.push(old);
    else create.push(node);
  }
  return { remove, create };
}
