import { PermanentError } from "konverge";
import type { DynamoGraphDeployment } from "./graph-deployment.ts";
import type { Service } from "./service-spec.ts";
import { replicasFor } from "./sla-sizing.ts";

/** The size that follows from an SLA. */
export interface Sizing {
  readonly replicas: number;
  readonly reason: string;
}

/** The services of a graph, by name. */
export interface Graph {
  readonly services: ReadonlyMap<string, Service>;
  readonly sizing: Sizing | undefined;
}

const WORKER = "VllmWorker";

/**
 * The services that a graph consists of: those it lists, and for a model a frontend and as many workers as its SLA asks
 * for. What is listed under the same name is kept, so that a model's workers can be given more than the model says.
 */
export function graphOf({ spec }: DynamoGraphDeployment): Graph {
  const listed = new Map(Object.entries(spec.services ?? {}));
  const { model } = spec;
  if (!model) return { services: listed, sizing: undefined };
  const sizing = sizingOf(spec);
  const { tensorParallelSize = 1, gpuType } = model.placement ?? {};
  const worker = listed.get(WORKER);
  const modelWorker: Service = {
    componentType: "worker",
    replicas: sizing.replicas,
    resources: { limits: { gpu: String(tensorParallelSize) } },
    ...worker,
    extraPodSpec: {
      ...(gpuType && { nodeSelector: { "nvidia.com/gpu.product": gpuType } }),
      ...worker?.extraPodSpec,
      mainContainer: {
        args: ["--model", model.name, "--tensor-parallel-size", String(tensorParallelSize)],
        ...worker?.extraPodSpec?.mainContainer,
      },
    },
  };
  const services = new Map<string, Service>([["Frontend", { componentType: "frontend" }], ...listed]);
  return { services: services.set(WORKER, modelWorker), sizing };
}

function sizingOf({ sla, model }: DynamoGraphDeployment["spec"]): Sizing {
  const { serviceTimeMs, concurrency } = model!;
  const { maxLatencyMs, minThroughput: throughput = 0 } = sla ?? {};
  const replicas = replicasFor({ throughput, maxLatencyMs, serviceTimeMs, concurrency });
  if (replicas === undefined) {
    throw new PermanentError(
      "SlaImpossible",
      `${throughput} requests per second within ${maxLatencyMs} ms cannot be had: one request alone takes ${serviceTimeMs} ms (spec.model.serviceTimeMs)`,
    );
  }
  const promise = maxLatencyMs === undefined ? "" : ` within ${maxLatencyMs} ms`;
  return {
    replicas,
    reason: `${throughput} requests per second${promise}, at ${serviceTimeMs} ms each and ${concurrency} at a time per replica`,
  };
}
