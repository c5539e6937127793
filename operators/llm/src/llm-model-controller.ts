import { cacheKind, controller, type KubeObject, ownedKind } from "konverge";
import { Deployment, Node, Pod, PodDisruptionBudget, Service } from "konverge/kinds";
import { formatLabelSelector } from "konverge/objects";
import {
  gpuProductsFor,
  gpuProductsIn,
  gpuProductsOf,
  POD_PROBLEM_GRACE_MS,
  replicaFailureMessage,
  reportProblem,
  watchGpuNodes,
} from "konverge/pods";
import { vendorOf } from "./accelerator.ts";
import { HTTPRoute, routingOf } from "./http-route.ts";
import { ImageVolumes } from "./image-volumes.ts";
import { adaptersServed } from "./inference-server.ts";
import { LLMModel } from "./llm-model.ts";
import {
  childName,
  deploymentFor,
  disruptionBudgetFor,
  endpointOf,
  labelsOf,
  modelNameOf,
  serviceFor,
} from "./llm-model-children.ts";
import type { ModelMetrics } from "./metrics.ts";
import { conditionsOf, crashProblem, replicaProblem } from "./replica-problems.ts";
import { isRollingOut, type RolloutFacts, rolloutProblem, rolloutStrategy } from "./rollout-room.ts";
import { ServiceMonitor, serviceMonitorFor } from "./service-monitor.ts";
import { isBoundToNode, servedClaims } from "./shared-claims.ts";
import { podsOf } from "./watched.ts";

/** How soon a change of nodes is considered: it does not cause a reconcile. */
const RESYNC = 10 * 60_000;

/**
 * Keeps a Deployment, a Service and a PodDisruptionBudget for each LLMModel, and a ServiceMonitor where there is such a
 * kind. Ready, Progressing and Degraded follow from how these children are doing; what keeps replicas from starting is
 * reported as the reason.
 */
export function llmModelController(metrics: ModelMetrics) {
  const imageVolumes = new ImageVolumes();
  return controller(LLMModel, {
    owns: [
      Deployment,
      Service,
      PodDisruptionBudget,
      ownedKind(ServiceMonitor, { optional: true }),
      ownedKind(HTTPRoute, { optional: true }),
    ],
    watches: [podsOf("ai.example.com/model"), watchGpuNodes(), servedClaims(), cacheKind(LLMModel)],
    resync: RESYNC,
    async reconcile(model, context) {
      const { observed, cache, events, clock } = context;
      const { gpuType } = model.spec;
      await imageVolumes.check(model.spec, context);
      const offered = gpuProductsOf(cache.list(Node), vendorOf(model.spec));
      const before = observed(Deployment, childName(model));
      const products = gpuType
        ? gpuProductsFor(gpuType, offered, gpuProductsIn(before?.spec?.template.spec?.affinity))
        : [];
      const isBoundHere = isBoundToNode(model, model.spec.replicas, context);
      const { replicas = 0, readyReplicas = 0 } = before?.status ?? {};
      const pods = podsOfModel(model, cache.list(Pod, model.metadata.namespace));
      const adapters = adaptersServed(model.spec, pods);
      const now = clock.now();
      const rollout: RolloutFacts = { spec: model.spec, live: before, pods, now };
      const strategy = rolloutStrategy(rollout);
      const deployment = deploymentFor(model, { products, isBoundToNode: isBoundHere, strategy });
      const isShort = readyReplicas < model.spec.replicas || isRollingOut(before);
      const creationError = replicaFailureMessage(before);
      const problem = isShort
        ? rolloutProblem(replicaProblem({ pods, creationError, gpuType, offered, now }), rollout)
        : crashProblem({ pods, now });
      const name = childName(model);
      const backends = [{ service: name, weight: 100 }];
      const routing = routingOf(model, { name, labels: labelsOf(model), backends }, context);
      reportProblem(model, problem, events);
      metrics.models.set(model, { wanted: model.spec.replicas, ready: readyReplicas }, () => cache.list(LLMModel));
      return {
        children: [
          deployment,
          serviceFor(model),
          disruptionBudgetFor(model),
          serviceMonitorFor(model, name, labelsOf(model)),
          ...routing.children,
        ],
        status: {
          model: modelNameOf(model),
          endpoint: endpointOf(model),
          ...(adapters && { adapters }),
          replicas,
          readyReplicas,
          selector: formatLabelSelector({ matchLabels: labelsOf(model) }),
        },
        conditions: { ...(problem && conditionsOf(problem, { isShort })) },
        // Problems begin and end with time, and no event reports a new node.
        ...((isShort || problem) && { requeueAfter: POD_PROBLEM_GRACE_MS }),
        report: (outcome) => ({ conditions: { Routed: routing.condition(outcome) } }),
      };
    },
  });
}

function podsOfModel(model: LLMModel, pods: readonly Pod[]): Pod[] {
  const wanted = Object.entries(labelsOf(model));
  return pods.filter(({ metadata }: KubeObject) => wanted.every(([name, value]) => metadata.labels?.[name] === value));
}
