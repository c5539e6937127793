import {
  type Clock,
  controllerOf,
  isNotFound,
  type KindRef,
  type KubeObject,
  type LabelSelector,
  timestamp,
} from "@konverge/core";
import { Pod, type PodTemplateSpec, ReplicaSet, type ReplicaSetStatus, ReplicationController } from "@konverge/kinds";
import { type Controller, type ReconcileContext, valueChanged } from "@konverge/runtime";
import { builtInController } from "../parts/built-in-controller.ts";
import { controllersComponent } from "../parts/part.ts";
import { childrenOf, claimChildren, watchChildren } from "./workloads/claim.ts";
import { inDeletionOrder } from "./workloads/deletion-order.ts";
import { createPod, deletePod, messageOf, podFromTemplate, slowStart } from "./workloads/pod-control.ts";
import { isActive, isAvailable, isReady, isTerminating, nextAvailable, podCondition } from "./workloads/pod-state.ts";
import { selectorOf as storedSelector } from "./workloads/selector.ts";
import { SelectorIndex } from "./workloads/selector-index.ts";
import { withCondition, withoutCondition, writeStatus } from "./workloads/status.ts";

/** What ReplicaSets and ReplicationControllers have in common. */
interface Replicated extends KubeObject {
  spec?: { replicas?: number; minReadySeconds?: number; template?: PodTemplateSpec };
  status?: ReplicaSetStatus;
}

/** The most pods that one reconcile creates or deletes. */
const BURST = 500;

/** The parts of a pod that a set depends on: its owners, and what is counted. Its node matters only for scaling down. */
function whatCounts(pod: Pod): unknown {
  const { labels, ownerReferences, deletionTimestamp } = pod.metadata;
  return [labels, ownerReferences, deletionTimestamp, pod.status?.phase, podCondition(pod, "Ready")];
}

/** Keeps `replicas` pods for each object. */
function replicator<T extends Replicated>(
  kind: KindRef<T>,
  options: { name: string; selectorOf: (object: T) => LabelSelector | undefined; countsTerminating: boolean },
): Controller {
  const { name, selectorOf, countsTerminating } = options;
  const selectors = new SelectorIndex<T>(selectorOf);
  return builtInController(kind, {
    name,
    when: selectors.follow,
    watches: [watchChildren(Pod, kind, selectors, valueChanged(whatCounts))],
    async reconcile(set, context) {
      const selector = selectorOf(set) ?? {};
      const pods = await claimChildren(context, {
        kind: Pod,
        ownerKind: kind,
        owner: set,
        selector,
        mayAdopt: isActive,
      });
      const active = pods.filter(isActive);
      const error = await manageReplicas(context, kind, set, active);
      const terminating = childrenOf(context, Pod, set).filter(isTerminating).length;
      const status = {
        ...statusOf(set, active, context.clock, error),
        ...(countsTerminating && { terminatingReplicas: terminating }),
      };
      await writeStatus(context, kind, set, status as NonNullable<T["status"]>);
      if (error) throw error.cause;
      const after = nextAvailable(active, set.spec?.minReadySeconds ?? 0, context.clock);
      return after === undefined ? undefined : { requeueAfter: after };
    },
  });
}

interface Failure {
  reason: "FailedCreate" | "FailedDelete";
  cause: unknown;
}

async function manageReplicas<T extends Replicated>(
  context: ReconcileContext,
  kind: KindRef<T>,
  set: T,
  active: readonly Pod[],
): Promise<Failure | undefined> {
  const wanted = set.spec?.replicas ?? 1;
  if (active.length < wanted) {
    const missing = Math.min(wanted - active.length, BURST);
    const pod = podFromTemplate(kind as unknown as KindRef<KubeObject>, set, set.spec!.template!);
    const { error } = await slowStart(missing, () => createPod(context, pod));
    return error === undefined ? undefined : { reason: "FailedCreate", cause: error };
  }
  if (active.length > wanted) {
    const related = relatedPods(context, kind, set);
    const surplus = inDeletionOrder(active, related, context.clock).slice(0, Math.min(active.length - wanted, BURST));
    const results = await Promise.allSettled(surplus.map((pod) => deletePod(context, pod)));
    const failed = results.find((result) => result.status === "rejected" && !isNotFound(result.reason));
    if (failed?.status === "rejected") return { reason: "FailedDelete", cause: failed.reason };
  }
  return undefined;
}

/** The pods of all sets that have the same controller: those of one Deployment. */
function relatedPods<T extends Replicated>(context: ReconcileContext, kind: KindRef<T>, set: T): Pod[] {
  const controller = controllerOf(set);
  const siblings = controller
    ? context.cache.list(kind, set.metadata.namespace).filter((other) => controllerOf(other)?.uid === controller.uid)
    : [set];
  return siblings.flatMap((sibling) => childrenOf(context, Pod, sibling)).filter(isActive);
}

function statusOf(
  set: Replicated,
  active: readonly Pod[],
  clock: Clock,
  failure: Failure | undefined,
): ReplicaSetStatus {
  const { template, minReadySeconds = 0 } = set.spec ?? {};
  const wanted = Object.entries(template?.metadata?.labels ?? {});
  const count = (holds: (pod: Pod) => boolean) => active.filter(holds).length;
  const known = set.status?.conditions;
  const condition = failure && {
    type: "ReplicaFailure",
    status: "True",
    reason: failure.reason,
    message: messageOf(failure.cause),
  };
  // Each failure names another pod: with the message in the status, every attempt would change it.
  const isKnown = known?.some(({ type, reason }) => type === "ReplicaFailure" && reason === failure?.reason);
  const conditions = isKnown
    ? [...known!]
    : condition
      ? withCondition(known, condition, timestamp(clock))
      : withoutCondition(known, "ReplicaFailure");
  return {
    replicas: active.length,
    fullyLabeledReplicas: count(({ metadata }) => wanted.every(([key, value]) => metadata.labels?.[key] === value)),
    readyReplicas: count(isReady),
    availableReplicas: count((pod) => isAvailable(pod, minReadySeconds, clock)),
    ...(set.metadata.generation !== undefined && { observedGeneration: set.metadata.generation }),
    ...(conditions.length > 0 && { conditions }),
  };
}

/** Runs ReplicaSets. */
export const replicaSets = controllersComponent("replicaset-controller", [ReplicaSet], () => [
  replicator(ReplicaSet, {
    name: "replicaset-controller",
    selectorOf: ({ spec }) => spec?.selector && storedSelector(spec.selector),
    countsTerminating: true,
  }),
]);

/** Runs ReplicationControllers. */
export const replicationControllers = controllersComponent("replication-controller", [ReplicationController], () => [
  replicator(ReplicationController as unknown as KindRef<Replicated>, {
    name: "replication-controller",
    selectorOf: ({ spec }) => ({
      matchLabels: (spec as { selector?: Record<string, string> } | undefined)?.selector ?? {},
    }),
    countsTerminating: false,
  }),
]);
