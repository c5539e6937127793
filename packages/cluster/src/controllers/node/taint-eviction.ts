import { isNotFound, keyOf, timestamp } from "@konverge/core";
import { Node, Pod, type PodCondition, type Taint } from "@konverge/kinds";
import { type ReconcileContext, valueChanged, watchKind } from "@konverge/runtime";
import { builtInController } from "../../parts/built-in-controller.ts";
import { controllersComponent } from "../../parts/part.ts";
import { withCondition } from "../workloads/status.ts";
import { tolerates } from "./node-matching.ts";

const NAME = "taint-eviction-controller";

/** Deletes pods from nodes with taints that they do not tolerate, or not any longer. */
function taintEvictionController() {
  /** Since when pods have been under notice: what counts for taints that do not say since when they are there. */
  const noticed = new Map<string, number>();
  return builtInController(Pod, {
    name: NAME,
    when: valueChanged((pod: Pod) => [pod.spec?.nodeName, pod.spec?.tolerations]),
    watches: [
      watchKind<Node, Pod>(Node, {
        references: ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []),
        when: valueChanged((node: Node) => node.spec?.taints),
      }),
    ],
    async reconcile(pod, context) {
      const { cache, clock, events } = context;
      const node = pod.spec?.nodeName ? cache.get(Node, pod.spec.nodeName) : undefined;
      const taints = (node?.spec?.taints ?? []).filter(({ effect }) => effect === "NoExecute");
      const { uid } = pod.metadata;
      const since = noticed.get(uid!) ?? clock.now();
      const patience = taints.length === 0 ? undefined : patienceOf(pod, taints, since, clock.now());
      if (patience === undefined) {
        if (noticed.delete(uid!)) events.normal("TaintManagerEviction", `Cancelling deletion of Pod ${keyOf(pod)}`);
        return undefined;
      }
      noticed.set(uid!, since);
      if (patience > 0) return { requeueAfter: patience };
      events.normal("TaintManagerEviction", `Marking for deletion Pod ${keyOf(pod)}`);
      noticed.delete(uid!);
      await evict(context, pod);
      return undefined;
    },
  });
}

/** Milliseconds for which a pod tolerates all the taints; undefined: forever. */
function patienceOf({ spec }: Pod, taints: readonly Taint[], noticed: number, now: number): number | undefined {
  let patience: number | undefined;
  for (const taint of taints) {
    const matching = (spec?.tolerations ?? []).filter((toleration) => tolerates([toleration], taint));
    if (matching.length === 0) return 0;
    const seconds = matching.flatMap(({ tolerationSeconds }) => tolerationSeconds ?? []);
    if (seconds.length === 0) continue;
    const since = taint.timeAdded ? Date.parse(taint.timeAdded) : noticed;
    const left = Math.max(0, since + Math.max(0, Math.min(...seconds)) * 1000 - now);
    patience = Math.min(patience ?? left, left);
  }
  return patience;
}

async function evict({ client, clock }: ReconcileContext, pod: Pod): Promise<void> {
  const condition: PodCondition = {
    type: "DisruptionTarget",
    status: "True",
    reason: "DeletionByTaintManager",
    message: "Taint manager: deleting due to NoExecute taint",
  };
  const conditions = withCondition(pod.status?.conditions, condition, timestamp(clock));
  try {
    // Direct writes: the pods belong to other controllers.
    await client.patchStatus(Pod, keyOf(pod), {
      strategic: { metadata: { uid: pod.metadata.uid }, status: { conditions } },
    });
    await client.delete(Pod, keyOf(pod), { preconditions: { uid: pod.metadata.uid! } });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** Evicts pods from tainted nodes. */
export const taintEviction = controllersComponent(NAME, [Node], () => [taintEvictionController()]);
