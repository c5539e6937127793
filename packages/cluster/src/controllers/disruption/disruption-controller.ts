import {
  type KubeObject,
  type LabelSelector,
  type ObjectKey,
  resolveIntOrPercent,
  selectsLabels,
  timestamp,
} from "@konverge/core";
import { Pod, PodDisruptionBudget, type PodDisruptionBudgetStatus } from "@konverge/kinds";
import { type ReconcileContext, watchKind } from "@konverge/runtime";
import { builtInController } from "../../parts/built-in-controller.ts";
import { type ComponentContext, controllersComponent } from "../../parts/part.ts";
import type { ServedKinds } from "../../parts/served-kinds.ts";
import { messageOf } from "../workloads/pod-control.ts";
import { isActive, isReady } from "../workloads/pod-state.ts";
import { goSelector, selectorOf } from "../workloads/selector.ts";
import { changedStatus, withCondition, writeStatus } from "../workloads/status.ts";
import { expectedPods, SIZED } from "./expected-pods.ts";

const NAME = "controllermanager";
/** Milliseconds after which an eviction that had no effect is forgotten. */
const DISRUPTION_TIMEOUT = 120_000;

/** Counts for each budget how many of its pods may be disrupted. */
function disruptionController({ kinds }: ComponentContext) {
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
      watchKind<Pod, PodDisruptionBudget>(Pod, { to: budgetsIn }),
      ...SIZED.map((kind) => watchKind<KubeObject, PodDisruptionBudget>(kind, { to: budgetsIn })),
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
      let counts: { expected: number; desired: number; unmanaged: string[] };
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
      if (counts.unmanaged.length > 0) events.warning("UnmanagedPods", unmanagedText(budget));
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
      return { ...changedStatus(budget, status), ...(next !== undefined && { requeueAfter: next }) };
    },
  });
}

/** An empty selector of a budget selects all pods of its namespace. */
const isSelected = (selector: LabelSelector, { metadata }: Pod) => selectsLabels(selector, metadata.labels);

async function countsOf(
  context: ReconcileContext,
  kinds: ServedKinds,
  { spec }: PodDisruptionBudget,
  pods: readonly Pod[],
) {
  const { minAvailable, maxUnavailable } = spec ?? {};
  const unmanaged: string[] = [];
  if (maxUnavailable === undefined) {
    if (typeof minAvailable === "number") return { expected: pods.length, desired: minAvailable, unmanaged };
    if (minAvailable === undefined) return { expected: 0, desired: 0, unmanaged };
  }
  const found = await expectedPods(context, kinds, pods);
  const resolve = (value: number | string) => resolveIntOrPercent(value, found.expected, "up");
  const desired =
    maxUnavailable === undefined ? resolve(minAvailable!) : Math.max(0, found.expected - resolve(maxUnavailable));
  return { ...found, desired };
}

function unmanagedText({ spec }: PodDisruptionBudget): string {
  const which = `Pods selected by this PodDisruptionBudget (selector: ${goSelector(spec?.selector)})`;
  return `${which} were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.`;
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
export const disruptionBudgets = controllersComponent("disruption-controller", [PodDisruptionBudget], (context) => [
  disruptionController(context),
]);
