import { gpuProductAffinity } from "konverge/pods";
import type { DynamoGraphDeployment } from "./graph-deployment.ts";
import type { Service } from "./service-spec.ts";

/** What a graph's model is served by. */
export const WORKER = "VllmWorker";

/** What a graph's model takes. */
export interface ModelWorkers {
  readonly replicas: number;
  /** The GPU products that they may run on, if the model says of which type they are. */
  readonly products: readonly string[];
}

/**
 * The services that a graph consists of: those it lists, and for a model a frontend and so many workers. What is listed under the same name is kept, so that a model's workers can be given more than the model says.
 */
export function servicesOf(
  { spec }: DynamoGraphDeployment,
  { replicas, products }: ModelWorkers,
): ReadonlyMap<string, Service> {
  const listed = new Map(Object.entries(spec.services ?? {}));
  const { model } = spec;
  if (!model) return listed;
  const { tensorParallelSize = 1, gpuType } = model.placement ?? {};
  const worker = listed.get(WORKER);
  const modelWorker: Service = {
    componentType: "worker",
    replicas,
    resources: { limits: { gpu: String(tensorParallelSize) } },
    ...worker,
    extraPodSpec: {
      ...(gpuType && { affinity: gpuProductAffinity(products) }),
      ...worker?.extraPodSpec,
      mainContainer: {
        args: ["--model", model.name, "--tensor-parallel-size", String(tensorParallelSize)],
        ...worker?.extraPodSpec?.mainContainer,
      },
    },
  };
  const services = new Map<string, Service>([["Frontend", { componentType: "frontend" }], ...listed]);
  return services.set(WORKER, modelWorker);
}
