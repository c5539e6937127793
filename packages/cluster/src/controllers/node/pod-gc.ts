import { isNotFound, keyOf, type ObjectKey, timestamp } from "@konverge/core";
import { Node, Pod, type PodCondition } from "@konverge/kinds";
import type { CacheView } from "@konverge/runtime";
import { KeyWorker } from "../../parts/key-worker.ts";
import type { ComponentContext, ControlPlaneComponent } from "../../parts/part.ts";
import { isTerminal } from "../workloads/pod-state.ts";
import { withCondition } from "../workloads/status.ts";

/** Milliseconds between the deletion of a node and that of its pods. */
const QUARANTINE = 40_000;

/** Deletes pods that no kubelet can delete: their node does not exist or is out of service. */
class PodCollector {
  readonly #context: ComponentContext;
  readonly #worker: KeyWorker;
  readonly #nodes: CacheView<Node>;

  constructor(context: ComponentContext) {
    const { clock, log } = context;
    this.#context = context;
    this.#worker = new KeyWorker({ clock, log, name: "pod-garbage-collector", work: (key) => this.#process(key) });
    this.#nodes = context.cache.use(Node);
    const pods = context.cache.use(Pod);
    pods.addIndex("node", ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []));
    pods.subscribe(({ type, key, object }) => {
      if (type === "deleted" || !object.spec?.nodeName) return;
      const node = this.#nodes.get(object.spec.nodeName);
      if (!node) this.#worker.add(key, { after: QUARANTINE });
      else if (object.metadata.deletionTimestamp && isOutOfService(node)) this.#worker.add(key);
    });
    this.#nodes.subscribe(({ type, key, object }) => {
      if (type !== "deleted" && !isOutOfService(object)) return;
      const options = type === "deleted" ? { after: QUARANTINE } : {};
      for (const pod of pods.find("node", key)) this.#worker.add(pod, options);
    });
  }

  async stop(): Promise<void> {
    await this.#worker.stop();
  }

  async #process(key: ObjectKey): Promise<undefined> {
    const { client, clock } = this.#context;
    const absent = (error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    };
    const pod = await client.get(Pod, key).catch(absent);
    if (!pod?.spec?.nodeName) return undefined;
    const node = await client.get(Node, pod.spec.nodeName).catch(absent);
    if (node && !(pod.metadata.deletionTimestamp && isOutOfService(node))) return undefined;
    if (!isTerminal(pod)) {
      const condition: PodCondition = {
        type: "DisruptionTarget",
        status: "True",
        reason: "DeletionByPodGC",
        message: "PodGC: node no longer exists",
      };
      const conditions = node ? [] : withCondition(pod.status?.conditions, condition, timestamp(clock));
      const patch = { metadata: { uid: pod.metadata.uid }, status: { phase: "Failed" as const, conditions } };
      // Direct write: the pod belongs to another controller, and its node does not exist.
      await client.patchStatus(Pod, key, { strategic: patch });
    }
    await client
      .delete(Pod, keyOf(pod), { gracePeriodSeconds: 0, preconditions: { uid: pod.metadata.uid! } })
      .catch(absent);
    return undefined;
  }
}

/** Whether an administrator has declared that nothing runs on a node that does not answer. */
function isOutOfService({ spec, status }: Node): boolean {
  const isReady = status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True");
  return !isReady && (spec?.taints?.some(({ key }) => key === "node.kubernetes.io/out-of-service") ?? false);
}

/** Deletes the pods of nodes that do not exist or are out of service. */
export const podCollector: ControlPlaneComponent = {
  name: "pod-garbage-collector",
  startsWith: [Node],
  start: async (context) => new PodCollector(context),
};
