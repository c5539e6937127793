import { keyOf, timestamp } from "@konverge/core";
import { Pod } from "@konverge/kinds";
import { builtInController } from "../parts/built-in-controller.ts";

/** Plays the kubelet: a pod runs and is ready. */
export const kubelet = builtInController(Pod, {
  name: "kubelet",
  async reconcile(pod, { client, clock }) {
    if (pod.status?.phase === "Running") return undefined;
    const startedAt = timestamp(clock);
    await client.patchStatus(Pod, keyOf(pod), {
      merge: {
        status: {
          phase: "Running",
          startTime: startedAt,
          conditions: [{ type: "Ready", status: "True", lastTransitionTime: startedAt }],
          containerStatuses: (pod.spec?.containers ?? []).map(({ name, image }) => ({
            name,
            image: image ?? "",
            imageID: image ?? "",
            ready: true,
            restartCount: 0,
            state: { running: { startedAt } },
          })),
        },
      },
    });
    return undefined;
  },
});
