import { isNotFound, keyOf } from "konverge";
import type { Client } from "konverge/client";
import { Pod } from "konverge/kinds";
import type { PodState } from "./pod-state.ts";

/** Deletes pods that are not on their way out yet: these very ones, not others that have their names by now. */
export async function deletePods(pods: readonly PodState[], client: Client): Promise<void> {
  for (const { pod, state } of pods) {
    if (state === "Terminating") continue;
    try {
      // Direct write: pods are deleted one at a time, after the verdict about them is stored.
      await client.delete(Pod, keyOf(pod), { preconditions: { uid: pod.metadata.uid! } });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}
