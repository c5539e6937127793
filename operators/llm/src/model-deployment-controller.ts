import { cacheKind, controller, keyOf, ownedKind, permission, type ReconcileContext } from "konverge";
import {
  ConfigMap,
  ControllerRevision,
  Event,
  HorizontalPodAutoscaler,
  Node,
  Pod,
  PodDisruptionBudget,
  Service,
  StatefulSet,
} from "konverge/kinds";
import { formatLabelSelector } from "konverge/objects";
import {
  failedCreateMessage,
  gpuProductsFor,
  gpuProductsIn,
  gpuProductsOf,
  reportProblem,
  watchGpuNodes,
} from "konverge/pods";
import {
  autoscalerBounds,
  type FetchMetrics,
  isMissed,
  LoadMonitor,
  measurementOf,
  objectiveResults,
  SCRAPE_PERIOD_MS,
} from "konverge/sizing";
import { vendorOf } from "./accelerator.ts";
import { planRollout, rulesBeside, runningCanary, servedDeployment } from "./canary-rollout.ts";
import { PORT } from "./container-layout.ts";
import { HTTPRoute, routingOf } from "./http-route.ts";
import { ImageVolumes } from "./image-volumes.ts";
import { adaptersServed, isServing } from "./inference-server.ts";
import type { ModelMetrics } from "./metrics.ts";
import { ModelDeployment } from "./model-deployment.ts";
import {
  autoscalerFor,
  configMapsFor,
  DEPLOYMENT_LABEL,
  deploymentBudgetFor,
  deploymentEndpoint,
  deploymentLabels,
  discoveryServiceFor,
  headlessServiceFor,
  scrapedLabels,
  statefulSetFor,
} from "./model-deployment-children.ts";
import { objectiveStatus, reportMissed, steadyResults } from "./objective-status.ts";
import { conditionsOf, crashProblem, replicaProblem } from "./replica-problems.ts";
import { ServiceMonitor, serviceMonitorFor } from "./service-monitor.ts";
import { isBoundToNode, servedClaims } from "./shared-claims.ts";
import { decisionsAfter, type Situation, type Size, sizeOf, steadyNumber } from "./size-decision.ts";
import { sizingRules } from "./sizing-rules.ts";
import { slaCondition } from "./sla-condition.ts";
import { MANAGED_SELECTOR, podsOf } from "./watched.ts";

/** What was decided is done once it is in the status, which other clients can keep from changing: this is no hot loop then. */
const DECISION_PERIOD_MS = 1000;

/**
 * Keeps a StatefulSet, its Services, an autoscaler and a configuration for each ModelDeployment, and the size within what its
 * SLA takes.
 *
 * Flow: every few seconds the servers' own metrics are read; a queueing model turns load and service time into the fewest
 * replicas that keep the promise; measured latency corrects it. The result becomes the autoscaler's bounds. The size itself is
 * the autoscaler's from the moment it exists, except for putting a model to sleep and waking it, which no autoscaler does.
 *
 * With `spec.rollout`, the spec of what serves is that of the stable revision, and a new one is tried beside it.
 */
export function modelDeploymentController(fetchMetrics: FetchMetrics, metrics: ModelMetrics) {
  const load = new LoadMonitor(fetchMetrics, PORT.containerPort);
  const imageVolumes = new ImageVolumes();
  return controller(ModelDeployment, {
    owns: [
      StatefulSet,
      Service,
      HorizontalPodAutoscaler,
      ConfigMap,
      PodDisruptionBudget,
      ownedKind(ControllerRevision, { labelSelector: MANAGED_SELECTOR }),
      ownedKind(ServiceMonitor, { optional: true }),
      ownedKind(HTTPRoute, { optional: true }),
    ],
    watches: [podsOf(DEPLOYMENT_LABEL), watchGpuNodes(), servedClaims(), cacheKind(ModelDeployment)],
    permissions: [permission(StatefulSet, ["patch"], { subresource: "scale" }), permission(Event, ["list"])],
    async reconcile(deployment, context) {
      const { observed, cache, clock, events, isServed } = context;
      const { name, namespace, uid = "" } = deployment.metadata;
      const stable = servedDeployment(deployment, context);
      const set = observed(StatefulSet, name);
      const split = deployment.spec.route && isServed(HTTPRoute) ? "RouteWeights" : "ReplicaShare";
      const stableReplicas = set?.spec?.replicas ?? deployment.status?.decisions?.at(-1)?.to ?? 0;
      const canary = runningCanary(deployment, stable, { stableReplicas, split });
      const rules = rulesBeside(sizingRules(stable), canary);
      await imageVolumes.check(deployment.spec, context);
      const most = Math.min(rules.max, rules.affordable ?? rules.max) + (deployment.spec.rollout ? 1 : 0);
      isBoundToNode(deployment, most, context);
      const pods = podsOfDeployment(deployment, cache.list(Pod, namespace));
      const canaryPods = pods.filter(
        ({ metadata }) => metadata.labels?.["app"] !== deploymentLabels(deployment)["app"],
      );
      const stablePods = pods.filter((pod) => !canaryPods.includes(pod));
      const memory = load.memory(uid, clock);
      const part = (deployment.spec.sla?.percentile ?? 95) / 100;
      const total = set ? await load.measure(memory, pods.filter(isServing), part, clock) : undefined;
      // The stable replicas can take all requests at any time, and only their own latency says how many that takes.
      const measured =
        total && canary ? { ...total, ...measurementOf(memory, stablePods, part), load: total.load } : total;
      const situation: Situation = {
        deployment,
        rules,
        measured,
        current: set?.spec?.replicas,
        ready: set?.status?.readyReplicas ?? 0,
        demand: await demandFor(deployment, load, context),
        now: clock.now(),
        monotonic: clock.monotonic(),
        revision: set?.status?.updateRevision,
      };
      const size = sizeOf(situation, memory);
      const decisions = decisionsAfter(situation, size);
      if (decisions !== deployment.status?.decisions && decisions.length > 0) {
        memory.changedAt = clock.monotonic();
        recordDecision(decisions.at(-1)!, context.events);
        metrics.decisions.inc({ namespace, name, reason: size.reason });
      }
      await sleepOrWake(set, size, context);
      if (measured) await comeDown(set, size, context);
      const offered = gpuProductsOf(cache.list(Node), vendorOf(stable.spec));
      const { gpuType } = stable.spec;
      const products = gpuType
        ? gpuProductsFor(gpuType, offered, gpuProductsIn(set?.spec?.template.spec?.affinity))
        : [];
      const isShort = set !== undefined && situation.ready < (set.spec?.replicas ?? 0);
      const creationError = isShort ? await refusalOf(set, context) : undefined;
      const problem = isShort
        ? replicaProblem({ pods: stablePods, creationError, gpuType, offered, now: clock.now() })
        : crashProblem({ pods: stablePods, now: clock.now() });
      reportProblem(deployment, problem, events);
      const labels = deploymentLabels(deployment);
      const stableSet = statefulSetFor(stable, { products, replicas: Math.max(1, size.replicas) });
      const facts = { stable, canary, split, set, stableSet, pods: canaryPods, memory, offered } as const;
      const rollout = await planRollout(deployment, facts, context);
      const { backends } = rollout;
      const routing = routingOf(deployment, { name, labels, backends }, context);
      const latency = measured?.latency;
      const results = steadyResults(objectiveResults(rules, measured), deployment.status?.objectives);
      const { missedAt } = memory;
      const slaMet = slaCondition(deployment, results, size, { missedAt, now: situation.monotonic });
      reportMissed(deployment, slaMet, events);
      const { cost } = deployment.spec;
      const replicas = set?.status?.replicas ?? 0;
      const paid = replicas + (canary?.replicas ?? 0);
      const numbers = {
        wanted: size.need.replicas,
        ready: situation.ready,
        ...(measured && { load: measured.load }),
        ...(latency !== undefined && { latency }),
        ...measured?.percentiles,
        ...(results.some((one) => one.measured !== undefined) && { withinSla: Number(!results.some(isMissed)) }),
        ...(cost && { cost: paid * cost.perReplicaHour }),
        ...(canary && { canaryWeight: deployment.status?.canary?.weight ?? 0 }),
        ...(deployment.spec.rollout && { canaryRolledBack: Number(rollout.status.canary?.phase === "RolledBack") }),
      };
      metrics.deployments.set(deployment, numbers, () => cache.list(ModelDeployment));
      const previous = deployment.status ?? {};
      const adapters = adaptersServed(deployment.spec, pods);
      return {
        children: [
          ...configMapsFor(stable),
          stableSet,
          discoveryServiceFor(deployment, canary?.split === "ReplicaShare" ? "both" : "stable"),
          headlessServiceFor(deployment, canary ? "both" : "stable"),
          autoscalerFor(deployment, autoscalerBounds(size.replicas, rules)),
          deploymentBudgetFor(deployment),
          ...rollout.children,
          serviceMonitorFor(deployment, name, scrapedLabels(deployment)),
          ...routing.children,
        ],
        status: {
          endpoint: deploymentEndpoint(deployment),
          ...(adapters && { adapters }),
          replicas,
          readyReplicas: situation.ready,
          neededReplicas: size.replicas,
          selector: formatLabelSelector({ matchLabels: deploymentLabels(deployment) }),
          ...(measured && { requestsPerSecond: steadyNumber(previous.requestsPerSecond, measured.load) }),
          ...(latency !== undefined && { latency: latencyText(previous.latency, latency) }),
          ...(results.length > 0 && { objectives: results.map(objectiveStatus) }),
          ...(cost && { costPerHour: Number((paid * cost.perReplicaHour).toFixed(4)) }),
          ...(size.idleSince && { idleSince: size.idleSince }),
          decisions: [...decisions],
          ...rollout.status,
        },
        conditions: {
          SLAMet: slaMet,
          ...rollout.conditions,
          ...(problem && conditionsOf(problem, { isShort })),
        },
        requeueAfter: rollout.isDecided ? DECISION_PERIOD_MS : SCRAPE_PERIOD_MS,
        report: (outcome) => ({ conditions: { Routed: routing.condition(outcome) } }),
      };
    },
  });
}

function podsOfDeployment(deployment: ModelDeployment, pods: readonly Pod[]): Pod[] {
  return pods.filter(({ metadata }) => metadata.labels?.[DEPLOYMENT_LABEL] === deployment.metadata.name);
}

/** Only what sleeps is asked for. */
async function demandFor(
  { spec, status }: ModelDeployment,
  load: LoadMonitor,
  { clock }: ReconcileContext,
): Promise<number> {
  const url = spec.scaling?.demandUrl;
  return url && status?.decisions?.at(-1)?.to === 0 ? load.demand(url, clock) : 0;
}

/** No autoscaler takes the last replica away or brings the first one back. */
async function sleepOrWake(
  set: StatefulSet | undefined,
  { replicas }: Size,
  { client }: ReconcileContext,
): Promise<void> {
  if (!set || (replicas === 0) === (set.spec?.replicas === 0)) return;
  // Direct writes: the autoscaler owns the number of replicas and changes it by the same subresource; it neither starts
  // from nor goes to zero.
  await client.scale(StatefulSet, keyOf(set), replicas);
}

/**
 * An autoscaler that gets no metrics keeps its bounds, and never goes down within them: the operator does. It knows what is
 * needed from the servers themselves.
 */
async function comeDown(
  set: StatefulSet | undefined,
  { replicas }: Size,
  { client, observed }: ReconcileContext,
): Promise<void> {
  if (!set || replicas === 0 || (set.spec?.replicas ?? 0) <= replicas) return;
  const conditions = observed(HorizontalPodAutoscaler, set.metadata.name)?.status?.conditions ?? [];
  const isBlind = conditions.some(({ type, status }) => type === "ScalingActive" && status === "False");
  if (isBlind) await client.scale(StatefulSet, keyOf(set), replicas);
}

/** A StatefulSet reports only in events that its pods are refused. */
async function refusalOf(set: StatefulSet, { client }: ReconcileContext): Promise<string | undefined> {
  return (set.status?.replicas ?? 0) < (set.spec?.replicas ?? 0) ? failedCreateMessage(client, set) : undefined;
}

function recordDecision(
  { from, to, message }: { from: number; to: number; message: string },
  events: ReconcileContext["events"],
): void {
  const reason = to === 0 ? "PutToSleep" : from === 0 ? "Started" : to > from ? "ScaledUp" : "ScaledDown";
  events.normal(reason, `from ${from} to ${to} replicas: ${message}`, { action: "Scale" });
}

/** In milliseconds, so that it can be parsed again. */
function latencyText(before: string | undefined, seconds: number): string {
  const earlier = before === undefined ? undefined : Number.parseFloat(before);
  return `${steadyNumber(earlier, Math.max(1, seconds * 1000))}ms`;
}
