import type { ObjectKey } from "@konverge/core";
import { ControllerRevision, DaemonSet, type DaemonSetStatus, Node, Pod } from "@konverge/kinds";
import { type ReconcileContext, valueChanged, watchKind } from "@konverge/runtime";
import { builtInController } from "../../parts/built-in-controller.ts";
import { controllersComponent } from "../../parts/part.ts";
import { claimChildren, watchChildren } from "../workloads/claim.ts";
import { createPod, deletePod, slowStart } from "../workloads/pod-control.ts";
import { isAvailable, isReady, nextAvailable } from "../workloads/pod-state.ts";
import { forgetRevisions, reviseTemplate } from "../workloads/revisions.ts";
import { selectorOf } from "../workloads/selector.ts";
import { isEmptySelector, SelectorIndex } from "../workloads/selector-index.ts";
import { writeStatus } from "../workloads/status.ts";
import { daemonPod, HASH_LABEL, hashOf, nodeOf } from "./daemon-pods.ts";
import { type Fit, fitOf } from "./node-fit.ts";
import { planUpdate, updateLimits } from "./rolling-update.ts";

const NAME = "daemonset-controller";

/** Keeps one pod on every node that a daemon belongs on. */
function daemonSetController() {
  const selectors = new SelectorIndex<DaemonSet>(({ spec }) => spec && selectorOf(spec.selector));
  const known = new Set<ObjectKey>();
  return builtInController(DaemonSet, {
    name: NAME,
    when(change) {
      if (change.type === "deleted") known.delete(change.key);
      else known.add(change.key);
      return selectors.follow(change);
    },
    watches: [
      watchChildren(Pod, DaemonSet, selectors),
      watchChildren(ControllerRevision, DaemonSet, selectors),
      watchKind<Node, DaemonSet>(Node, {
        to: () => [...known],
        when: valueChanged((node: Node) => [node.metadata.labels, node.spec?.taints]),
      }),
    ],
    async reconcile(set, context) {
      const selector = selectorOf(set.spec!.selector);
      if (isEmptySelector(selector)) {
        context.events.warning(
          "SelectingAll",
          "This daemon set is selecting all pods. A non-empty selector is required.",
        );
        return undefined;
      }
      const revisions = await reviseTemplate(context, { kind: DaemonSet, owner: set, selector, hashLabel: HASH_LABEL });
      const hash = revisions.newest.metadata.labels![HASH_LABEL]!;
      const pods = await claimChildren(context, { kind: Pod, ownerKind: DaemonSet, owner: set, selector });
      const nodes = context.cache.list(Node);
      const fits = new Map(nodes.map((node) => [node.metadata.name, fitOf(set.spec!.template.spec!, node)]));
      const isMoving = await settleNodes(context, set, { pods, fits, hash });
      if (!isMoving && set.spec?.updateStrategy?.type !== "OnDelete") await rollOn(context, set, { pods, fits, hash });
      await writeStatus(context, DaemonSet, set, statusOf(context, set, { pods, fits, hash }));
      const inUse = new Set(pods.map(hashOf));
      const limit = set.spec?.revisionHistoryLimit ?? 10;
      await forgetRevisions(context, revisions, limit, ({ metadata }) => inUse.has(metadata.labels?.[HASH_LABEL]));
      const after = nextAvailable(pods, set.spec?.minReadySeconds ?? 0, context.clock);
      return after === undefined ? undefined : { requeueAfter: after };
    },
  });
}

interface Situation {
  pods: readonly Pod[];
  fits: ReadonlyMap<string, Fit>;
  hash: string;
}

const isLeaving = ({ metadata }: Pod) => metadata.deletionTimestamp !== undefined;

/** Puts pods where they are missing, and takes them away where they do not belong. True if anything was done. */
async function settleNodes(
  context: ReconcileContext,
  set: DaemonSet,
  { pods, fits, hash }: Situation,
): Promise<boolean> {
  const byNode = Map.groupBy(pods, (pod) => nodeOf(pod) ?? "");
  const allowsTwo = updateLimits(set, fits.size).surge > 0 && set.spec?.updateStrategy?.type !== "OnDelete";
  const create: string[] = [];
  const remove: Pod[] = [];
  for (const [node, fit] of fits) {
    const there = byNode.get(node) ?? [];
    if (fit.shouldRun && there.length === 0) create.push(node);
    else if (!fit.mayStay) remove.push(...there.filter((pod) => !isLeaving(pod)));
    else remove.push(...surplus(context, there, { hash, allowsTwo }));
  }
  // The pod garbage collector deletes pods on nodes that no longer exist, but not those that were never bound.
  for (const [node, there] of byNode) {
    if (!fits.has(node)) remove.push(...there.filter((pod) => !isLeaving(pod) && !pod.spec?.nodeName));
  }
  for (const pod of remove) await deletePod(context, pod);
  const { error } = await slowStart(create.length, (i) => createPod(context, daemonPod(set, create[i]!, hash)));
  if (error) throw error;
  return create.length + remove.length > 0;
}

/** The pods on a node that have ended, or are more than there should be. */
function surplus(
  { events }: ReconcileContext,
  there: readonly Pod[],
  options: { hash: string; allowsTwo: boolean },
): Pod[] {
  const remove: Pod[] = [];
  const running: Pod[] = [];
  for (const pod of there) {
    if (isLeaving(pod)) continue;
    const { phase } = pod.status ?? {};
    const where = `${pod.metadata.namespace}/${pod.metadata.name} on node ${nodeOf(pod)}`;
    if (phase === "Failed") events.warning("FailedDaemonPod", `Found failed daemon pod ${where}, will try to kill it`);
    if (phase === "Succeeded")
      events.normal("SucceededDaemonPod", `Found succeeded daemon pod ${where}, will try to delete it`);
    (phase === "Failed" || phase === "Succeeded" ? remove : running).push(pod);
  }
  const oldestFirst = running.sort((a, b) =>
    (a.metadata.creationTimestamp ?? "") < (b.metadata.creationTimestamp ?? "") ? -1 : 1,
  );
  if (!options.allowsTwo) return [...remove, ...oldestFirst.slice(1)];
  const [fresh, old] = [true, false].map((isFresh) =>
    oldestFirst.filter((pod) => (hashOf(pod) === options.hash) === isFresh),
  );
  return [...remove, ...fresh!.slice(1), ...old!.slice(1)];
}

/** Moves a rolling update on by a step. */
async function rollOn(context: ReconcileContext, set: DaemonSet, { pods, fits, hash }: Situation): Promise<void> {
  const byNode = new Map<string, readonly Pod[]>();
  for (const [node, { shouldRun }] of fits) {
    if (shouldRun)
      byNode.set(
        node,
        pods.filter((pod) => nodeOf(pod) === node && !isLeaving(pod)),
      );
  }
  const { remove, create } = planUpdate(context, set, byNode, hash);
  for (const pod of remove) await deletePod(context, pod);
  for (const node of create) await createPod(context, daemonPod(set, node, hash));
}

function statusOf({ clock }: ReconcileContext, set: DaemonSet, { pods, fits, hash }: Situation): DaemonSetStatus {
  const minReadySeconds = set.spec?.minReadySeconds ?? 0;
  let [desired, current, misplaced, ready, available, updated] = [0, 0, 0, 0, 0, 0];
  for (const [node, { shouldRun }] of fits) {
    const there = pods.filter((pod) => nodeOf(pod) === node);
    if (!shouldRun) {
      if (there.length > 0) misplaced++;
      continue;
    }
    desired++;
    // The oldest pod counts for the node.
    const [first] = there.sort((a, b) =>
      (a.metadata.creationTimestamp ?? "") < (b.metadata.creationTimestamp ?? "") ? -1 : 1,
    );
    if (!first) continue;
    current++;
    if (isReady(first)) ready++;
    if (isAvailable(first, minReadySeconds, clock)) available++;
    if (hashOf(there.at(-1)!) === hash) updated++;
  }
  return {
    currentNumberScheduled: current,
    numberMisscheduled: misplaced,
    desiredNumberScheduled: desired,
    numberReady: ready,
    updatedNumberScheduled: updated,
    numberAvailable: available,
    numberUnavailable: desired - available,
    ...(set.metadata.generation !== undefined && { observedGeneration: set.metadata.generation }),
    ...(set.status?.collisionCount !== undefined && { collisionCount: set.status.collisionCount }),
    ...(set.status?.conditions && { conditions: set.status.conditions }),
  };
}

/** Runs DaemonSets. */
export const daemonSets = controllersComponent(NAME, [DaemonSet], () => [daemonSetController()]);
