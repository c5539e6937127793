import { isNotFound, keyOf } from "@konverge/core";
import { Job } from "@konverge/kinds";
import { builtInController } from "../parts/built-in-controller.ts";
import { controllersComponent } from "../parts/part.ts";
import { finishedCondition } from "./job/job-state.ts";

const NAME = "ttl-after-finished-controller";

/** Deletes Jobs some time after they have ended. */
export const ttlAfterFinished = controllersComponent(NAME, [Job], () => [
  builtInController(Job, {
    name: NAME,
    when: ({ object }) => object.spec?.ttlSecondsAfterFinished !== undefined && finishedCondition(object) !== undefined,
    async reconcile(job, { client, clock }) {
      const ttl = job.spec?.ttlSecondsAfterFinished;
      const ended = finishedCondition(job)?.lastTransitionTime;
      if (ttl === undefined || !ended) return undefined;
      const after = Date.parse(ended) + ttl * 1000 - clock.now();
      if (after > 0) return { requeueAfter: after };
      // The TTL may have been changed, or the Job replaced, since it was cached.
      const live = await client.get(Job, keyOf(job)).catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      });
      if (live?.metadata.uid !== job.metadata.uid || live?.metadata.deletionTimestamp) return undefined;
      if (live!.spec?.ttlSecondsAfterFinished !== ttl) return { requeueAfter: 1 };
      const { uid, resourceVersion } = live!.metadata;
      const preconditions = { uid: uid!, resourceVersion: resourceVersion! };
      // Direct write: an expired Job itself is deleted, not a child of it.
      await client.delete(Job, keyOf(job), { propagationPolicy: "Foreground", preconditions });
      return undefined;
    },
  }),
]);
