import {
  controllerOf,
  isNotFound,
  type KubeObject,
  type LabelSelector,
  type ObjectKey,
  parseApiVersion,
  resolveIntOrPercent,
  selectsLabels,
  timestamp,
} from "@konverge/core";
import {
  Deployment,
  Pod,
  PodDisruptionBudget,
  type PodDisruptionBudgetStatus,
  ReplicaSet,
  ReplicationController,
  StatefulSet,
} from "@konverge/kinds";
import { type Context, watch } from "@konverge/runtime";
import { builtInController } from "../../parts/built-in-controller.ts";
import { controllersPart, type PartContext } from "../../parts/part.ts";
import type { ServedKinds } from "../../parts/served-kinds.ts";
import { messageOf } from "../workloads/pod-control.ts";
import { isActive, isReady } from "../workloads/pod-state.ts";
import { selectorOf } from "../workloads/selector.ts";
import { withCondition, writeStatus } from "../workloads/status.ts";

const NAME = "controllermanager";
/** Milliseconds after which an eviction that had no effect is forgotten. */
const DISRUPTION_TIMEOUT = 120_000;

/** Counts for each budget how many of its pods may be disrupted. */
function disruptionController({ kinds }: PartContext) {
  const known = new Map<string, Set<ObjectKey>>();
  const budgetsIn = ({ metadata }: KubeObject) => [...(known.get(metadata.namespace ?? "") ?? [])];
  return builtInController(PodDisruptionBudget, {
    name: NAME,
    when({ type, key, object }) {
      const { namespace = "" } = object.metadata;
      if (type === "deleted") known.get(namespace)?.delete(key);
      else known.set(namespace, (known.get(namespace) ?? new Set()).add(key));
      return true;
    },
    watches: [
      watch<Pod, PodDisruptionBudget>(Pod, { to: budgetsIn }),
      ...[Deployment, ReplicaSet, StatefulSet, ReplicationController].map((kind) =>
        watch<KubeObject, PodDisruptionBudget>(kind, { to: budgetsIn }),
      ),
    ],
    async reconcile(budget, context) {
      const { clock, cache, events } = context;
      const selector = budget.spec?.selector && selectorOf(budget.spec.selector);
      const pods = cache
        .list(Pod, budget.metadata.namespace)
        .filter(
          (pod) =>
            selector &&
            isSelected(selector, pod) &&
            pod.status?.phase !== "Succeeded" &&
            pod.status?.phase !== "Failed",
        );
      if (pods.length === 0) events.normal("NoPods", "No matching pods found");
      let counts: { expected: number; desired: number };
      try {
        counts = await countsOf(context, kinds, budget, pods);
      } catch (error) {
        const message = `Failed to calculate the number of expected pods: ${messageOf(error)}`;
        events.warning("CalculateExpectedPodCountFailed", message);
        await writeStatus(
          context,
          PodDisruptionBudget,
          budget,
          failedStatus(budget, messageOf(error), timestamp(clock)),
        );
        throw error;
      }
      const { disrupted, next } = disruptedPods(budget, pods, clock.now());
      const healthy = pods.filter((pod) => isActive(pod) && isReady(pod) && !disrupted[pod.metadata.name]).length;
      const allowed = counts.expected > 0 ? Math.max(0, healthy - counts.desired) : 0;
      const now = timestamp(clock);
      const condition = {
        type: "DisruptionAllowed",
        status: allowed > 0 ? "True" : "False",
        reason: allowed > 0 ? "SufficientPods" : "InsufficientPods",
        message: "",
        ...(budget.metadata.generation !== undefined && { observedGeneration: budget.metadata.generation }),
      };
      const status = {
        currentHealthy: healthy,
        desiredHealthy: counts.desired,
        disruptionsAllowed: allowed,
        expectedPods: counts.expected,
        ...(budget.metadata.generation !== undefined && { observedGeneration: budget.metadata.generation }),
        ...(Object.keys(disrupted).length > 0 && { disruptedPods: disrupted }),
        conditions: withCondition(budget.status?.conditions, condition as never, now),
      };
      await writeStatus(context, PodDisruptionBudget, budget, status);
      return next === undefined ? undefined : { after: next };
    },
  });
}

/** An empty selector of a budget selects all pods of its namespace. */
const isSelected = (selector: LabelSelector, { metadata }: Pod) => selectsLabels(selector, metadata.labels);

async function countsOf(context: Context, kinds: ServedKinds, { spec }: PodDisruptionBudget, pods: readonly Pod[]) {
  const { minAvailable, maxUnavailable } = spec ?? {};
  if (maxUnavailable !== undefined) {
    const expected = await expectedPods(context, kinds, pods);
    return { expected, desired: Math.max(0, expected - resolveIntOrPercent(maxUnavailable, expected, "up")) };
  }
  if (typeof minAvailable === "number") return { expected: pods.length, desired: minAvailable };
  if (minAvailable === undefined) return { expected: 0, desired: 0 };
  const expected = await expectedPods(context, kinds, pods);
  return { expected, desired: resolveIntOrPercent(minAvailable, expected, "up") };
}

/** How many pods their controllers want, each controller once. */
async function expectedPods(context: Context, kinds: ServedKinds, pods: readonly Pod[]): Promise<number> {
  const sizes = new Map<string, number>();
  for (const pod of pods) {
    const owner = controllerOf(pod);
    if (!owner) continue;
    const namespace = pod.metadata.namespace!;
    const set = owner.kind === "ReplicaSet" ? context.cache.get(ReplicaSet, `${namespace}/${owner.name}`) : undefined;
    const top = (set && controllerOf(set)) ?? owner;
    if (sizes.has(top.uid)) continue;
    const kind = kinds.byName(parseApiVersion(top.apiVersion).group, top.kind);
    if (!kind) continue;
    try {
      const { spec } = await context.client.getScale(kind, `${namespace}/${top.name}`);
      sizes.set(top.uid, spec.replicas ?? 0);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      throw new Error(`${kind.plural}.${kind.group} does not implement the scale subresource`, { cause: error });
    }
  }
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}

function disruptedPods({ status }: PodDisruptionBudget, pods: readonly Pod[], now: number) {
  const disrupted: Record<string, string> = {};
  let next: number | undefined;
  for (const [name, time] of Object.entries(status?.disruptedPods ?? {})) {
    const left = Date.parse(time) + DISRUPTION_TIMEOUT - now;
    const pod = pods.find(({ metadata }) => metadata.name === name);
    if (!pod || pod.metadata.deletionTimestamp || left <= 0) continue;
    disrupted[name] = time;
    next = Math.min(next ?? left, left);
  }
  return { disrupted, next };
}

function failedStatus(
  { status, metadata }: PodDisruptionBudget,
  message: string,
  now: string,
): PodDisruptionBudgetStatus {
  const condition = { type: "DisruptionAllowed", status: "False", reason: "SyncFailed", message };
  return {
    currentHealthy: 0,
    desiredHealthy: 0,
    expectedPods: 0,
    ...status,
    disruptionsAllowed: 0,
    ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
    conditions: withCondition(status?.conditions, condition as never, now),
  };
}

/** Keeps the status of PodDisruptionBudgets. */
export const disruptionBudgets = controllersPart("disruption-controller", [PodDisruptionBudget], (context) => [
  disruptionController(context),
]);
