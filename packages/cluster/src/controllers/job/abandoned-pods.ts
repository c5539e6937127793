import { controllerOf, isNotFound, type ObjectKey } from "@konverge/core";
import { Job, Pod } from "@konverge/kinds";
import { KeyWorker } from "../../parts/key-worker.ts";
import type { ComponentContext, ControlPlaneComponent } from "../../parts/part.ts";
import { releasePods } from "./job-pods.ts";
import { finishedCondition, isTracked } from "./job-state.ts";

const BY_JOB = "job";

/** Removes the tracking finalizer from pods that are no longer counted: their Job is deleted, terminating or finished. */
class AbandonedPods {
  readonly #context: ComponentContext;
  readonly #worker: KeyWorker;

  constructor(context: ComponentContext) {
    const { clock, log } = context;
    this.#context = context;
    this.#worker = new KeyWorker({ clock, log, name: "job-controller: orphans", work: (key) => this.#process(key) });
    const pods = context.cache.use(Pod);
    pods.addIndex(BY_JOB, (pod) => {
      const owner = isTracked(pod) ? controllerOf(pod) : undefined;
      return owner?.kind === "Job" ? [owner.uid] : [];
    });
    pods.subscribe(({ type, key, object }) => {
      // A pod without a controller was released by its Job; for a terminating one, the Job may be deleted.
      const isSuspect = !controllerOf(object) || object.metadata.deletionTimestamp !== undefined;
      if (type !== "deleted" && isTracked(object) && isSuspect) this.#worker.add(key);
    });
    context.cache.use(Job).subscribe(({ type, object }) => {
      if (type !== "deleted" && !object.metadata.deletionTimestamp && !finishedCondition(object)) return;
      for (const key of pods.find(BY_JOB, object.metadata.uid!)) this.#worker.add(key);
    });
  }

  async stop(): Promise<void> {
    await this.#worker.stop();
  }

  async #process(key: ObjectKey): Promise<undefined> {
    const { client } = this.#context;
    const absent = (error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    };
    const pod = await client.get(Pod, key).catch(absent);
    if (!pod || !isTracked(pod)) return undefined;
    const owner = controllerOf(pod);
    const job =
      owner?.kind === "Job"
        ? await client.get(Job, `${pod.metadata.namespace}/${owner.name}`).catch(absent)
        : undefined;
    const isCounted =
      job?.metadata.uid === owner?.uid && job && !job.metadata.deletionTimestamp && !finishedCondition(job);
    if (!isCounted) await releasePods({ client }, [pod]);
    return undefined;
  }
}

/** Releases pods that no Job counts any more. */
export const abandonedPods: ControlPlaneComponent = {
  name: "job-orphan-pods",
  user: "job-controller",
  startsWith: [Job],
  start: async (context) => new AbandonedPods(context),
};
