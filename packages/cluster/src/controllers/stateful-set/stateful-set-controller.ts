import { deepCopy, type Mutable } from "@konverge/core";
import { ControllerRevision, PersistentVolumeClaim, Pod, StatefulSet, type StatefulSetStatus } from "@konverge/kinds";
import { cacheKind, type ReconcileContext } from "@konverge/runtime";
import { builtInController } from "../../parts/built-in-controller.ts";
import { controllersComponent } from "../../parts/part.ts";
import { claimChildren, watchChildren } from "../workloads/claim.ts";
import { nextAvailable } from "../workloads/pod-state.ts";
import { forgetRevisions, reviseTemplate, templateIn } from "../workloads/revisions.ts";
import { selectorOf } from "../workloads/selector.ts";
import { SelectorIndex } from "../workloads/selector-index.ts";
import { writeStatus } from "../workloads/status.ts";
import { retainClaims } from "./claims.ts";
import { isInRange, ordinalOf, revisionOf, settingsOf } from "./identity.ts";
import { attend, deletePlace, isLeaving, isRunningAndAvailable, isRunningAndReady, type Place } from "./pods.ts";

const NAME = "statefulset-controller";

/** Runs pods with a stable name, ordinal and storage, created in order. */
function statefulSetController() {
  const selectors = new SelectorIndex<StatefulSet>(({ spec }) => spec && selectorOf(spec.selector));
  return builtInController(StatefulSet, {
    name: NAME,
    when: selectors.follow,
    watches: [
      watchChildren(Pod, StatefulSet, selectors),
      watchChildren(ControllerRevision, StatefulSet, selectors),
      cacheKind(PersistentVolumeClaim),
    ],
    async reconcile(set, context) {
      const selector = selectorOf(set.spec!.selector);
      const revisions = await reviseTemplate(context, {
        kind: StatefulSet,
        owner: set,
        selector,
        hashLabel: "controller.kubernetes.io/hash",
      });
      const pods = await claimChildren(context, {
        kind: Pod,
        ownerKind: StatefulSet,
        owner: set,
        selector,
        mayAdopt: (pod) => ordinalOf(set, pod) !== undefined,
      });
      const { newest, all } = revisions;
      const current = all.find(({ metadata }) => metadata.name === set.status?.currentRevision) ?? newest;
      const status: Mutable<StatefulSetStatus> = deepCopy(statusOf(context, set, pods, { current, newest }));
      let failure: unknown;
      try {
        const removed = await update(context, set, pods, { current, newest });
        if (removed && revisionOf(removed) === current.metadata.name)
          status.currentReplicas = Math.max(0, status.currentReplicas! - 1);
      } catch (error) {
        failure = error;
      }
      completeUpdate(set, status);
      await writeStatus(context, StatefulSet, set, status);
      if (failure) throw failure;
      const inUse = new Set([status.currentRevision, status.updateRevision, ...pods.map(revisionOf)]);
      const limit = set.spec?.revisionHistoryLimit ?? 10;
      await forgetRevisions(context, revisions, limit, ({ metadata }) => inUse.has(metadata.name));
      const after = nextAvailable(pods, settingsOf(set).minReadySeconds, context.clock);
      return after === undefined ? undefined : { requeueAfter: after };
    },
  });
}

interface Versions {
  current: ControllerRevision;
  newest: ControllerRevision;
}

/** Creates, deletes and replaces pods as far as the order allows. Returns the pod that was deleted for an update, if any. */
async function update(
  context: ReconcileContext,
  set: StatefulSet,
  pods: readonly Pod[],
  versions: Versions,
): Promise<Pod | undefined> {
  const { isOrdered, isOnDelete, partition = 0, start } = settingsOf(set);
  const places = placesOf(set, pods, versions);
  const condemned = pods
    .filter((pod) => ordinalOf(set, pod) !== undefined && !isInRange(set, ordinalOf(set, pod)!))
    .sort((a, b) => ordinalOf(set, b)! - ordinalOf(set, a)!);
  const firstUnavailable = [...places.map(({ pod }) => pod), ...[...condemned].reverse()].find(
    (pod) => isLeaving(pod) || !isRunningAndAvailable(context, set, pod),
  );
  if (isOrdered) {
    for (const place of places) if (!(await attend(context, set, place))) return undefined;
  } else {
    const results = await Promise.allSettled(places.map((place) => attend(context, set, place)));
    const failed = results.find((result) => result.status === "rejected");
    if (failed) throw failed.reason;
    if (results.some((result) => result.status === "fulfilled" && !result.value)) return undefined;
  }
  for (const pod of condemned) await retainClaims(context, set, pod);
  for (const pod of condemned) {
    if (isLeaving(pod)) {
      if (isOrdered) return undefined;
      continue;
    }
    if (isOrdered && !isRunningAndAvailable(context, set, pod) && pod !== firstUnavailable) return undefined;
    await deletePlace(context, set, pod);
    if (isOrdered) return undefined;
  }
  if (isOnDelete || condemned.length > 0) return undefined;
  for (const { ordinal, pod } of [...places].reverse()) {
    if (ordinal - start < partition) return undefined;
    if (pod && revisionOf(pod) !== versions.newest.metadata.name && !isLeaving(pod)) {
      await deletePlace(context, set, pod);
      return pod;
    }
    if (isLeaving(pod) || !isRunningAndAvailable(context, set, pod)) return undefined;
  }
  return undefined;
}

/** The places of the set in order, each with the revision, old or new, that a missing pod is created from. */
function placesOf(set: StatefulSet, pods: readonly Pod[], { current, newest }: Versions): Place[] {
  const { replicas, start, isOnDelete, partition } = settingsOf(set);
  const byOrdinal = new Map(pods.map((pod) => [ordinalOf(set, pod), pod]));
  const stays = partition ?? set.status?.currentReplicas ?? 0;
  return Array.from({ length: replicas }, (_, i) => {
    const ordinal = start + i;
    const revision = !isOnDelete && i < stays ? current : newest;
    return {
      ordinal,
      pod: byOrdinal.get(ordinal),
      template: templateIn(revision),
      revision: revision.metadata.name,
    };
  });
}

function statusOf(
  context: ReconcileContext,
  set: StatefulSet,
  pods: readonly Pod[],
  { current, newest }: Versions,
): StatefulSetStatus {
  const count = (holds: (pod: Pod) => boolean) => pods.filter(holds).length;
  const isOf =
    ({ metadata }: ControllerRevision) =>
    (pod: Pod) =>
      !isLeaving(pod) && revisionOf(pod) === metadata.name;
  return {
    ...(set.metadata.generation !== undefined && { observedGeneration: set.metadata.generation }),
    replicas: pods.length,
    readyReplicas: count(isRunningAndReady),
    availableReplicas: count((pod) => isRunningAndAvailable(context, set, pod)),
    currentReplicas: count(isOf(current)),
    updatedReplicas: count(isOf(newest)),
    currentRevision: current.metadata.name,
    updateRevision: newest.metadata.name,
    collisionCount: set.status?.collisionCount ?? 0,
  };
}

/** When all pods are of the new revision and ready, it is the current one. */
function completeUpdate(set: StatefulSet, status: Mutable<StatefulSetStatus>): void {
  const { replicas, isOnDelete } = settingsOf(set);
  const { updatedReplicas, readyReplicas, replicas: present } = status;
  if (isOnDelete || updatedReplicas !== replicas || readyReplicas !== replicas || present !== replicas) return;
  status.currentReplicas = updatedReplicas;
  status.currentRevision = status.updateRevision!;
}

/** Runs StatefulSets. */
export const statefulSets = controllersComponent(NAME, [StatefulSet], () => [statefulSetController()]);
