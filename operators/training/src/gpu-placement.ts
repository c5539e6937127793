import type { ReconcileContext } from "konverge";
import { Node } from "konverge/kinds";
import { gpuProductsFor, gpuProductsIn, gpuProductsOf, isGpuOfType } from "konverge/pods";
import type { PodState } from "./pod-state.ts";
import type { TrainingJob } from "./training-job.ts";

type Cached = Pick<ReconcileContext, "cache">;

/** The GPU products that new workers may run on: those that nodes have now; none if any will do. */
export function productsOf({ spec: { gpuType } }: TrainingJob, { cache }: Cached): string[] {
  return gpuType ? gpuProductsFor(gpuType, gpuProductsOf(cache.list(Node))) : [];
}

/**
 * Workers that wait for a product that no node has, though by now there are nodes with GPUs of the type: they were made
 * before the nodes came, and where a pod may run cannot be changed.
 */
export function strandedWorkers(
  { spec: { gpuType } }: TrainingJob,
  pods: readonly PodState[],
  { cache }: Cached,
): readonly PodState[] {
  if (!gpuType) return [];
  const offered = gpuProductsOf(cache.list(Node));
  if (!offered.some((product) => isGpuOfType(product, gpuType))) return [];
  return pods.filter(({ pod, state }) => {
    const products = gpuProductsIn(pod.spec?.affinity);
    const isPlaced = state !== "Pending" || pod.spec?.nodeName !== undefined;
    return !isPlaced && products.length > 0 && !products.some((product) => offered.includes(product));
  });
}
