import { cacheKind, controller, keyOf, ownedKind, permission, type ReconcileContext } from "konverge";
import {
  ConfigMap,
  ControllerRevision,
  Event,
  HorizontalPodAutoscaler,
  PodDisruptionBudget,
  Service,
  StatefulSet,
} from "konverge/kinds";
import { failedCreateMessage, reportProblem, watchGpuNodes } from "konverge/pods";
import { autoscalerBounds, type FetchMetrics, LoadMonitor, objectiveResults, SCRAPE_PERIOD_MS } from "konverge/sizing";
import { planRollout, type RolloutPlan } from "./canary-rollout.ts";
import { PORT } from "./container-layout.ts";
import { deploymentNumbers, deploymentStatus } from "./deployment-status.ts";
import { HTTPRoute, type Routing, routingOf } from "./http-route.ts";
import { ImageVolumes } from "./image-volumes.ts";
import type { ModelMetrics } from "./metrics.ts";
import { ModelDeployment } from "./model-deployment.ts";
import {
  autoscalerFor,
  configMapsFor,
  DEPLOYMENT_LABEL,
  deploymentBudgetFor,
  deploymentLabels,
  discoveryServiceFor,
  headlessServiceFor,
  scrapedLabels,
  statefulSetFor,
} from "./model-deployment-children.ts";
import { reportMissed, steadyResults } from "./objective-status.ts";
import { type ObservedDeployment, observeDeployment } from "./observed-deployment.ts";
import { conditionsOf, crashProblem, replicaProblem } from "./replica-problems.ts";
import { ServiceMonitor, serviceMonitorFor } from "./service-monitor.ts";
import { servedClaims } from "./shared-claims.ts";
import { decisionsAfter, type Size, sizeOf } from "./size-decision.ts";
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
      await imageVolumes.check(deployment.spec, context);
      const observation = await observeDeployment(deployment, load, context);
      const { stable, canary, split, set, memory, situation, offered, products } = observation;
      const size = sizeOf(situation, memory);
      const decisions = decisionsAfter(situation, size);
      if (decisions !== deployment.status?.decisions && decisions.length > 0) {
        memory.changedAt = situation.monotonic;
        recordDecision(decisions.at(-1)!, context.events);
        metrics.decisions.inc({ ...placeOf(deployment), reason: size.reason });
      }
      await resize(observation, size, context);
      const problem = await problemOf(deployment, observation, context);
      const stableSet = statefulSetFor(stable, { products, replicas: Math.max(1, size.replicas) });
      const facts = { stable, canary, split, set, stableSet, pods: observation.canaryPods, memory, offered } as const;
      const rollout = await planRollout(deployment, facts, context);
      const routing = routingFor(deployment, rollout, context);
      const results = steadyResults(
        objectiveResults(situation.rules, situation.measured),
        deployment.status?.objectives,
      );
      const SLAMet = slaCondition(deployment, results, size, { missedAt: memory.missedAt, now: situation.monotonic });
      reportMissed(deployment, SLAMet, context.events);
      const decided = { size, decisions, results, rollout };
      const numbers = deploymentNumbers(deployment, observation, decided);
      metrics.deployments.set(deployment, numbers, () => context.cache.list(ModelDeployment));
      const conditionsOfProblem = problem && conditionsOf(problem, { isShort: observation.isShort });
      return {
        children: childrenOf(deployment, observation, { size, stableSet, rollout, routing }),
        status: deploymentStatus(deployment, observation, decided),
        conditions: { SLAMet, ...rollout.conditions, ...conditionsOfProblem },
        requeueAfter: rollout.isDecided ? DECISION_PERIOD_MS : SCRAPE_PERIOD_MS,
        report: (outcome) => ({ conditions: { Routed: routing.condition(outcome) } }),
      };
    },
  });
}

const placeOf = ({ metadata: { name, namespace } }: ModelDeployment) => ({ namespace, name });

function routingFor(deployment: ModelDeployment, { backends }: RolloutPlan, context: ReconcileContext): Routing {
  const { name } = deployment.metadata;
  return routingOf(deployment, { name, labels: deploymentLabels(deployment), backends }, context);
}

function childrenOf(
  deployment: ModelDeployment,
  { stable, canary, situation: { rules } }: ObservedDeployment,
  plan: { size: Size; stableSet: ReturnType<typeof statefulSetFor>; rollout: RolloutPlan; routing: Routing },
) {
  return [
    ...configMapsFor(stable),
    plan.stableSet,
    discoveryServiceFor(deployment, canary?.split === "ReplicaShare" ? "both" : "stable"),
    headlessServiceFor(deployment, canary ? "both" : "stable"),
    autoscalerFor(deployment, autoscalerBounds(plan.size.replicas, rules)),
    deploymentBudgetFor(deployment),
    ...plan.rollout.children,
    serviceMonitorFor(deployment, deployment.metadata.name, scrapedLabels(deployment)),
    ...plan.routing.children,
  ];
}

/** Why replicas do not start, or that one fails again and again. */
async function problemOf(
  deployment: ModelDeployment,
  { stable, stablePods: pods, set, offered, isShort, situation: { now } }: ObservedDeployment,
  context: ReconcileContext,
) {
  const creationError = set && isShort ? await refusalOf(set, context) : undefined;
  const { gpuType } = stable.spec;
  const problem = isShort
    ? replicaProblem({ pods, creationError, gpuType, offered, now })
    : crashProblem({ pods, now });
  reportProblem(deployment, problem, context.events);
  return problem;
}

/** What no autoscaler does. */
async function resize({ set, situation }: ObservedDeployment, size: Size, context: ReconcileContext): Promise<void> {
  await sleepOrWake(set, size, context);
  if (situation.measured) await comeDown(set, size, context);
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
