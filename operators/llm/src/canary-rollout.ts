import { type Child, type Conditions, isApplied, type PlannedChild, type ReconcileContext } from "konverge";
import { ControllerRevision, type Pod, StatefulSet } from "konverge/kinds";
import { readinessOf } from "konverge/objects";
import { failedCreateMessage, gpuProductsFor, gpuProductsIn } from "konverge/pods";
import { measurementOf, objectiveResults, type SizingRules, type SizingState } from "konverge/sizing";
import { durationMs } from "konverge/time";
import { canaryConditions, reportCanary, type TrafficSplit } from "./canary-conditions.ts";
import { type CanaryObservation, nextCanary } from "./canary-steps.ts";
import type { RouteBackend } from "./http-route.ts";
import { isServing, progressDeadline } from "./inference-server.ts";
import type { ModelDeployment } from "./model-deployment.ts";
import { canarySetFor, configMapsFor, discoveryServiceFor, trackName } from "./model-deployment-children.ts";
import { replicaProblem } from "./replica-problems.ts";
import { revisionOf, revisionRecordFor, stableDeployment } from "./revisions.ts";
import type { CanaryStatus } from "./rollout-spec.ts";
import { sizingRules } from "./sizing-rules.ts";

/** A server that was restarted this often crashes. */
const CRASHES = 3;
/** The label in which a StatefulSet's pods have its revision. */
const SET_REVISION = "controller-revision-hash";

/** The deployment at the revision that serves. Without a canary in the spec that is the spec's. */
export function servedDeployment(deployment: ModelDeployment, { observed }: ReconcileContext): ModelDeployment {
  if (!deployment.spec.rollout) return deployment;
  return stableDeployment(deployment, observed.all(ControllerRevision));
}

/** Whether the spec has another revision than the stable one, or is being promoted to it. */
function isRollingOut(deployment: ModelDeployment, stable: ModelDeployment): boolean {
  const { canary } = deployment.status ?? {};
  const revision = revisionOf(deployment);
  return revision !== revisionOf(stable) || (canary?.phase === "Promoting" && canary.revision === revision);
}

/** A canary that runs: what the status has decided about it, and its size. */
export interface RunningCanary {
  readonly split: TrafficSplit;
  /** The percentage of requests in this step, and in the one before. */
  readonly weight: number;
  readonly weightBefore: number;
  readonly replicas: number;
}

/** The canary that runs beside this number of stable replicas; undefined if none is to run. */
export function runningCanary(
  deployment: ModelDeployment,
  stable: ModelDeployment,
  { stableReplicas, split }: { stableReplicas: number; split: TrafficSplit },
): RunningCanary | undefined {
  const { canary } = deployment.status ?? {};
  const { stepWeights } = deployment.spec.rollout?.canary ?? {};
  if (!stepWeights || !canary || canary.phase === "RolledBack" || !isRollingOut(deployment, stable)) return undefined;
  const step = canary.revision === revisionOf(deployment) ? Math.min(canary.step, stepWeights.length - 1) : 0;
  const weight = stepWeights[step]!;
  const share = split === "RouteWeights" ? weight / 100 : weight / Math.max(1, 100 - weight);
  const { affordable = Number.POSITIVE_INFINITY } = sizingRules(stable);
  // All requests can return to the stable replicas at any time: they stay, and a canary is never larger.
  const most = Math.max(1, Math.min(stableReplicas, affordable - stableReplicas));
  const replicas = stableReplicas === 0 ? 0 : Math.min(most, Math.max(1, Math.ceil(share * stableReplicas - 1e-9)));
  return { split, weight, weightBefore: stepWeights[step - 1] ?? 0, replicas };
}

/** The stable revision leaves the canary its part of the costs. */
export function rulesBeside(rules: SizingRules, canary: RunningCanary | undefined): SizingRules {
  if (!canary || rules.affordable === undefined) return rules;
  return { ...rules, affordable: Math.max(1, rules.affordable - canary.replicas) };
}

/** What is known about both revisions. */
export interface RolloutFacts {
  readonly stable: ModelDeployment;
  readonly canary: RunningCanary | undefined;
  readonly split: TrafficSplit;
  /** The StatefulSet of the stable revision, as it is and as it should be. */
  readonly set: StatefulSet | undefined;
  readonly stableSet: PlannedChild;
  /** The pods of the canary. */
  readonly pods: readonly Pod[];
  readonly memory: SizingState;
  readonly offered: readonly string[];
}

/** What a rollout adds to a deployment, and the next state of its canary. */
export interface RolloutPlan {
  readonly children: readonly (Child | PlannedChild)[];
  readonly backends: readonly RouteBackend[];
  readonly status: { readonly stableRevision?: string; readonly canary?: CanaryStatus };
  readonly conditions: Conditions;
  /** Something was decided that is to be done as soon as it is in the status. */
  readonly isDecided: boolean;
}

/** Plans a rollout by what the status has decided, and decides what is next. */
export async function planRollout(
  deployment: ModelDeployment,
  facts: RolloutFacts,
  context: ReconcileContext,
): Promise<RolloutPlan> {
  const { stable, canary } = facts;
  const name = trackName(deployment, "stable");
  const alone = [{ service: name, weight: 100 }];
  if (!deployment.spec.rollout)
    return { children: [], backends: alone, status: {}, conditions: { Canary: undefined }, isDecided: false };
  const live = context.observed(StatefulSet, trackName(deployment, "canary"));
  const { gpuType } = deployment.spec;
  const before = gpuProductsIn(live?.spec?.template.spec?.affinity);
  const products = gpuType ? gpuProductsFor(gpuType, facts.offered, before) : [];
  const observation = await observeCanary(deployment, { ...facts, live, products }, context);
  const previous = deployment.status?.canary;
  const next = isRollingOut(deployment, stable) ? nextCanary(previous, observation) : undefined;
  reportCanary(previous, next, observation, context.events);
  const { weight } = observation;
  const children = canary
    ? [
        ...configMapsFor(deployment, "canary"),
        canarySetFor(deployment, { products, replicas: canary.replicas }),
        ...(canary.split === "RouteWeights" ? [discoveryServiceFor(deployment, "canary")] : []),
      ]
    : [];
  const isWeighted = canary?.split === "RouteWeights" && weight > 0;
  return {
    children: [revisionRecordFor(stable), ...children],
    backends: isWeighted
      ? [
          { service: name, weight: 100 - weight },
          { service: trackName(deployment, "canary"), weight },
        ]
      : alone,
    status: { stableRevision: revisionOf(stable), ...(next && { canary: next }) },
    conditions: canaryConditions(next, observation, facts.split),
    isDecided:
      next?.revision !== previous?.revision || next?.phase !== previous?.phase || next?.step !== previous?.step,
  };
}

async function observeCanary(
  deployment: ModelDeployment,
  facts: RolloutFacts & { live: StatefulSet | undefined; products: readonly string[] },
  { client, clock }: ReconcileContext,
): Promise<CanaryObservation> {
  const { canary, set, stableSet, live, products, memory, offered } = facts;
  const { sla, gpuType } = deployment.spec;
  const { stepWeights, interval, maxErrorRate } = deployment.spec.rollout!.canary;
  const pods = live ? podsOfSet(deployment, live, products, facts.pods) : [];
  const serving = pods.filter(isServing);
  const replicas = canary?.replicas ?? 0;
  const readyReplicas = Math.min(serving.length, replicas);
  const isShort = live !== undefined && readyReplicas < replicas;
  const creationError = isShort ? await failedCreateMessage(client, live) : undefined;
  const now = clock.now();
  const part = (sla?.percentile ?? 95) / 100;
  const lately = measurementOf(memory, serving, part);
  const ever = measurementOf(memory, serving, part, "all");
  const rules = sizingRules(deployment);
  const since = objectiveResults(rules, ever);
  const errors = lately?.errorRate ?? ever?.errorRate;
  return {
    revision: revisionOf(deployment),
    steps: stepWeights.length,
    intervalMs: durationMs(interval),
    deadlineMs: progressDeadline(deployment.spec) * 1000,
    weight: canary ? weightOf(deployment, canary, readyReplicas, set?.status?.readyReplicas ?? 0) : 0,
    replicas,
    readyReplicas,
    // With too few requests in the last minute, all of them count.
    results: objectiveResults(rules, lately).map((one, i) => (one.measured === undefined ? since[i]! : one)),
    percentile: sla?.percentile ?? 95,
    errorRate: errors === undefined ? undefined : errors * 100,
    maxErrorRate,
    problem: isShort ? replicaProblem({ pods, creationError, gpuType, offered, now }) : undefined,
    isCrashing: pods.some(({ status }) =>
      status?.containerStatuses?.some(({ restartCount }) => (restartCount ?? 0) >= CRASHES),
    ),
    isPromoted: isApplied(StatefulSet, stableSet.draft, set) && readinessOf(set, now).status === "Current",
    now,
  };
}

/** The pods of the canary that run its revision, and not that of a canary before. */
function podsOfSet(
  deployment: ModelDeployment,
  live: StatefulSet,
  products: readonly string[],
  pods: readonly Pod[],
): Pod[] {
  const { metadata, spec, status } = live;
  const draft = canarySetFor(deployment, { products, replicas: spec?.replicas ?? 0 });
  if (!isApplied(StatefulSet, draft, live) || status?.observedGeneration !== metadata.generation) return [];
  return pods.filter((pod) => pod.metadata.labels?.[SET_REVISION] === status?.updateRevision);
}

/** The percentage of requests that a canary gets: that of its step once all its replicas are ready. */
function weightOf(deployment: ModelDeployment, canary: RunningCanary, ready: number, stableReady: number): number {
  if (ready === 0) return 0;
  if (canary.split === "ReplicaShare") return Math.round((100 * ready) / (ready + stableReady));
  const { revision, phase } = deployment.status!.canary!;
  if (revision !== revisionOf(deployment)) return 0;
  return phase === "Starting" ? canary.weightBefore : canary.weight;
}
