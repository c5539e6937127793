import {
  ApiError,
  type ApiResponse,
  badRequest,
  notFound,
  selectsLabels,
  timestamp,
  tooManyRequests,
} from "@konverge/core";
import { type Call, currentEntry } from "../call/call.ts";
import type { Pod, PodDisruptionBudget, Stored } from "../codec/objects.ts";
import type { DeleteOptions } from "../http/query.ts";
import { bodyResponse } from "../representation/answer.ts";
import { contentOf, objectOf } from "../resources/stored-object.ts";
import { deleteObject } from "../verbs/delete.ts";
import { bodyKind, CREATED, readCreate } from "./body-kinds.ts";

const EVICTION = bodyKind("policy", "v1", "Eviction", "policy.v1.Eviction");
const BUDGETS = "policy/poddisruptionbudgets";
const VIOLATED = "Cannot evict pod as it would violate the pod's disruption budget.";

/** Deletes a pod if its disruption budget allows one less. */
export async function evict(given: Call): Promise<ApiResponse> {
  const { call, object } = readCreate(given, EVICTION);
  const { name } = object.metadata;
  if (name && name !== call.info.name) throw badRequest("name in URL does not match name in Eviction object");
  const entry = currentEntry(call);
  if (!entry) throw notFound(call.definition, call.info.name);
  await call.admission.mutate(call, object, undefined, "CREATE");
  await call.admission.validate(call, object, undefined, "CREATE");
  const options = (object["deleteOptions"] ?? {}) as DeleteOptions;
  const dry = { ...call, dryRun: call.dryRun || (options.dryRun?.length ?? 0) > 0 };
  const pod = objectOf(entry) as unknown as Pod;
  if (!isExpendable(pod)) {
    spend(dry, pod);
    mark(dry, pod);
  }
  await deleteObject(dry, { ...options, ...(!options.preconditions && { preconditions: { uid: pod.metadata.uid! } }) });
  await call.store.durable();
  return bodyResponse(201, CREATED, call.form);
}

/** Says in the pod's status what is about to happen to it. */
function mark(call: Call, pod: Pod): void {
  if (call.dryRun) return;
  const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== "DisruptionTarget");
  const condition = {
    type: "DisruptionTarget",
    status: "True",
    reason: "EvictionByEvictionAPI",
    message: "Eviction API: evicting",
    lastTransitionTime: timestamp(call.clock),
  };
  pod.status = { ...pod.status, conditions: [...others, condition] };
  const { namespace, name } = pod.metadata;
  call.store.put("/pods", `${namespace}/${name}`, contentOf(call.definition, pod as Stored<Pod>));
}

/** Pods that do not run, or are going already, cost no budget. */
function isExpendable({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined || ["Pending", "Succeeded", "Failed"].includes(status?.phase ?? "");
}

/** Takes one disruption from the budget of a pod; throws when there is none left. */
function spend(call: Call, pod: Pod): void {
  const { store, clock } = call;
  const { namespace, name, labels } = pod.metadata;
  const budgets = [...store.collection(BUDGETS).scan(`${namespace}/`)]
    .map((entry) => objectOf(entry) as unknown as Stored<PodDisruptionBudget>)
    .filter(({ spec }) => spec?.selector !== undefined && selectsLabels(spec.selector, labels));
  if (budgets.length === 0) return;
  if (budgets.length > 1) {
    const message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
    throw new ApiError({ code: 500, reason: "InternalError", message });
  }
  const budget = budgets[0]!;
  if (isExempt(budget, pod)) return;
  const { status } = budget;
  if ((status?.observedGeneration ?? 0) < (budget.metadata.generation ?? 0)) {
    throw refusal(`The disruption budget ${budget.metadata.name} is still being processed by the server.`, 10);
  }
  if ((status?.disruptionsAllowed ?? 0) <= 0) throw refusal(whyNot(budget), 0);
  if (call.dryRun) return;
  const disruptedPods = { ...status?.disruptedPods, [name]: timestamp(clock) };
  const disruptionsAllowed = (status?.disruptionsAllowed ?? 0) - 1;
  budget.status = { ...status!, disruptionsAllowed, disruptedPods };
  if (disruptionsAllowed === 0) budget.status.conditions = withoutRoom(budget, timestamp(clock));
  const definition = call.registry.get("policy", "poddisruptionbudgets")!;
  store.put(BUDGETS, `${namespace}/${budget.metadata.name}`, contentOf(definition, budget));
}

function withoutRoom({ metadata, status }: PodDisruptionBudget, now: string) {
  const others = (status?.conditions ?? []).filter(({ type }) => type !== "DisruptionAllowed");
  const condition = {
    type: "DisruptionAllowed",
    status: "False" as const,
    reason: "InsufficientPods",
    message: "",
    lastTransitionTime: now,
    ...(metadata.generation && { observedGeneration: metadata.generation }),
  };
  return [...others, condition];
}

/** A pod that is not healthy takes nothing from a budget that is met without it, or that does not mind. */
function isExempt({ spec, status }: PodDisruptionBudget, pod: Pod): boolean {
  const isReady = (pod.status?.conditions ?? []).some((one) => one.type === "Ready" && one.status === "True");
  if (isReady) return false;
  if (spec?.unhealthyPodEvictionPolicy === "AlwaysAllow") return true;
  const { currentHealthy = 0, desiredHealthy = 0 } = status ?? {};
  return currentHealthy >= desiredHealthy && desiredHealthy > 0;
}

function whyNot({ metadata, status }: PodDisruptionBudget): string {
  const subject = `The disruption budget ${metadata.name}`;
  const condition = status?.conditions?.find(({ type }) => type === "DisruptionAllowed");
  if (condition?.reason === "SyncFailed") {
    return `${subject} does not allow evicting pods currently because it failed sync: ${condition.message}`;
  }
  const { currentHealthy = 0, desiredHealthy = 0 } = status ?? {};
  if (currentHealthy <= desiredHealthy) {
    return `${subject} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
  }
  const why = condition ? ` (${condition.reason}): ${condition.message}` : "";
  return `${subject} does not allow evicting pods currently${why}`;
}

function refusal(message: string, seconds: number): ApiError {
  const { status } = tooManyRequests(VIOLATED, seconds);
  const details = {
    causes: [{ reason: "DisruptionBudget", message }],
    ...(seconds > 0 && { retryAfterSeconds: seconds }),
  };
  return new ApiError({ ...status, details });
}
