import type { ReconcileContext } from "konverge";
import { Node, Pod, StatefulSet } from "konverge/kinds";
import { gpuProductsFor, gpuProductsIn, gpuProductsOf } from "konverge/pods";
import { type LoadMonitor, measurementOf, type SizingState } from "konverge/sizing";
import { vendorOf } from "./accelerator.ts";
import type { TrafficSplit } from "./canary-conditions.ts";
import { type RunningCanary, rulesBeside, runningCanary, servedDeployment } from "./canary-rollout.ts";
import { HTTPRoute } from "./http-route.ts";
import { isServing } from "./inference-server.ts";
import type { ModelDeployment } from "./model-deployment.ts";
import { DEPLOYMENT_LABEL, deploymentLabels } from "./model-deployment-children.ts";
import { isBoundToNode } from "./shared-claims.ts";
import type { Situation } from "./size-decision.ts";
import { sizingRules } from "./sizing-rules.ts";

/** What is observed of a ModelDeployment before anything is decided about it. */
export interface ObservedDeployment {
  /** The deployment with the spec that serves: that of the stable revision during a rollout. */
  readonly stable: ModelDeployment;
  readonly canary: RunningCanary | undefined;
  readonly split: TrafficSplit;
  /** The StatefulSet of the stable revision. */
  readonly set: StatefulSet | undefined;
  readonly pods: readonly Pod[];
  readonly stablePods: readonly Pod[];
  readonly canaryPods: readonly Pod[];
  /** The GPU products that nodes offer, and those of them that fit. */
  readonly offered: readonly string[];
  readonly products: readonly string[];
  readonly memory: SizingState;
  readonly situation: Situation;
  /** Whether there are fewer ready replicas than requested. */
  readonly isShort: boolean;
}

/** Reads the cluster's objects, and the servers' own metrics. */
export async function observeDeployment(
  deployment: ModelDeployment,
  load: LoadMonitor,
  context: ReconcileContext,
): Promise<ObservedDeployment> {
  const { observed, cache, clock, isServed } = context;
  const { name, namespace, uid = "" } = deployment.metadata;
  const stable = servedDeployment(deployment, context);
  const set = observed(StatefulSet, name);
  const split = deployment.spec.route && isServed(HTTPRoute) ? "RouteWeights" : "ReplicaShare";
  const stableReplicas = set?.spec?.replicas ?? deployment.status?.decisions?.at(-1)?.to ?? 0;
  const canary = runningCanary(deployment, stable, { stableReplicas, split });
  const rules = rulesBeside(sizingRules(stable), canary);
  const most = Math.min(rules.max, rules.affordable ?? rules.max) + (deployment.spec.rollout ? 1 : 0);
  isBoundToNode(deployment, most, context);
  const pods = podsOfDeployment(deployment, cache.list(Pod, namespace));
  const { app } = deploymentLabels(deployment);
  const canaryPods = pods.filter(({ metadata }) => metadata.labels?.["app"] !== app);
  const stablePods = pods.filter((pod) => !canaryPods.includes(pod));
  const memory = load.memory(uid, clock);
  const part = (deployment.spec.sla?.percentile ?? 95) / 100;
  const total = set ? await load.measure(memory, pods.filter(isServing), part, clock) : undefined;
  // The stable replicas can take all requests at any time, and only their own latency says how many that takes.
  const measured = total && canary ? { ...total, ...measurementOf(memory, stablePods, part), load: total.load } : total;
  const ready = set?.status?.readyReplicas ?? 0;
  const situation: Situation = {
    ...{ deployment, rules, measured, ready },
    current: set?.spec?.replicas,
    demand: await demandFor(deployment, load, context),
    now: clock.now(),
    monotonic: clock.monotonic(),
    revision: set?.status?.updateRevision,
  };
  const offered = gpuProductsOf(cache.list(Node), vendorOf(stable.spec));
  const { gpuType } = stable.spec;
  const before = gpuProductsIn(set?.spec?.template.spec?.affinity);
  const products = gpuType ? gpuProductsFor(gpuType, offered, before) : [];
  const isShort = set !== undefined && ready < (set.spec?.replicas ?? 0);
  return {
    ...{ stable, canary, split, set, pods, stablePods, canaryPods },
    ...{ offered, products, memory, situation, isShort },
  };
}

function podsOfDeployment(deployment: ModelDeployment, pods: readonly Pod[]): Pod[] {
  return pods.filter(({ metadata }) => metadata.labels?.[DEPLOYMENT_LABEL] === deployment.metadata.name);
}

/** Only a deployment that sleeps is asked for. */
async function demandFor(
  { spec, status }: ModelDeployment,
  load: LoadMonitor,
  { clock }: ReconcileContext,
): Promise<number> {
  const url = spec.scaling?.demandUrl;
  return url && status?.decisions?.at(-1)?.to === 0 ? load.demand(url, clock) : 0;
}
