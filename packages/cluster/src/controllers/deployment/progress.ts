import { type Clock, timestamp } from "@konverge/core";
import type { Deployment, DeploymentCondition, DeploymentStatus, ReplicaSet } from "@konverge/kinds";
import { maxUnavailable } from "./annotations.ts";
import { allSets, replicasOf, type Sets } from "./sets.ts";

/** A deadline that long is none: what older clients set to say so. */
const NO_DEADLINE = 2 ** 31 - 1;

export function hasProgressDeadline({ spec }: Deployment): boolean {
  return spec.progressDeadlineSeconds !== undefined && spec.progressDeadlineSeconds !== NO_DEADLINE;
}

export const progressing = (status: DeploymentStatus | undefined): DeploymentCondition | undefined =>
  status?.conditions?.find(({ type }) => type === "Progressing");

/** Sets a condition. One with the same status and reason is left as it is, times and all. */
export function setCondition(
  conditions: readonly DeploymentCondition[] = [],
  next: Omit<DeploymentCondition, "lastUpdateTime" | "lastTransitionTime">,
  now: string,
): DeploymentCondition[] {
  const before = conditions.find(({ type }) => type === next.type);
  if (before?.status === next.status && before.reason === next.reason) return [...conditions];
  const others = conditions.filter(({ type }) => type !== next.type);
  const lastTransitionTime = before?.status === next.status ? before.lastTransitionTime! : now;
  return [...others, { ...next, lastUpdateTime: now, lastTransitionTime }];
}

/** The status that follows from the sets, with all conditions but that of the progress. */
export function statusOf(sets: Sets, clock: Clock): DeploymentStatus {
  const { deployment, current } = sets;
  const all = allSets(sets);
  const sum = (field: "replicas" | "readyReplicas" | "availableReplicas" | "terminatingReplicas") =>
    all.reduce((total, { status }) => total + (status?.[field] ?? 0), 0);
  const available = sum("availableReplicas");
  const wanted = all.reduce((total, set) => total + replicasOf(set), 0);
  const isAvailable = available >= (deployment.spec.replicas ?? 1) - maxUnavailable(deployment);
  const { collisionCount, conditions } = deployment.status ?? {};
  return {
    ...(deployment.metadata.generation !== undefined && { observedGeneration: deployment.metadata.generation }),
    replicas: sum("replicas"),
    updatedReplicas: current?.status?.replicas ?? 0,
    readyReplicas: sum("readyReplicas"),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, wanted - available),
    terminatingReplicas: sum("terminatingReplicas"),
    ...(collisionCount !== undefined && { collisionCount }),
    conditions: setCondition(
      conditions,
      isAvailable
        ? {
            type: "Available",
            status: "True",
            reason: "MinimumReplicasAvailable",
            message: "Deployment has minimum availability.",
          }
        : {
            type: "Available",
            status: "False",
            reason: "MinimumReplicasUnavailable",
            message: "Deployment does not have minimum availability.",
          },
      timestamp(clock),
    ),
  };
}

/** All pods are of the newest template, and available. */
export function isComplete({ spec, metadata }: Deployment, status: DeploymentStatus): boolean {
  const { replicas = 1 } = spec;
  return (
    (status.updatedReplicas ?? 0) === replicas &&
    (status.replicas ?? 0) === replicas &&
    (status.availableReplicas ?? 0) === replicas &&
    (status.observedGeneration ?? 0) >= (metadata.generation ?? 0)
  );
}

/** Adds the conditions of the rollout to the status: complete, progressing, timed out, or failing. */
export function withProgress(sets: Sets, status: DeploymentStatus, clock: Clock): DeploymentStatus {
  const { deployment, current } = sets;
  const now = timestamp(clock);
  const others = (status.conditions ?? []).filter(({ type }) => type !== "Progressing");
  const before = progressing(status);
  let conditions = hasProgressDeadline(deployment) ? (status.conditions ?? []) : others;
  const isDone = status.replicas === status.updatedReplicas && before?.reason === "NewReplicaSetAvailable";
  if (hasProgressDeadline(deployment) && !isDone) {
    const subject = current ? `ReplicaSet "${current.metadata.name}"` : `Deployment "${deployment.metadata.name}"`;
    const state = (value: "True" | "False", reason: string, message: string) => ({
      type: "Progressing",
      status: value,
      reason,
      message,
    });
    if (isComplete(deployment, status)) {
      const next = state("True", "NewReplicaSetAvailable", `${subject} has successfully progressed.`);
      conditions = setCondition(conditions, next, now);
    } else if (hasMoved(deployment.status ?? {}, status)) {
      const lastTransitionTime = before?.status === "True" ? before.lastTransitionTime! : now;
      const next = state("True", "ReplicaSetUpdated", `${subject} is progressing.`);
      conditions = [...others, { ...next, lastUpdateTime: now, lastTransitionTime }];
    } else if (isLate(deployment, clock)) {
      const next = state("False", "ProgressDeadlineExceeded", `${subject} has timed out progressing.`);
      conditions = setCondition(conditions, next, now);
    }
  }
  const failure = failureOf(sets);
  conditions = conditions.filter(({ type }) => type !== "ReplicaFailure" || failure !== undefined);
  if (failure) conditions = setCondition(conditions, failure, now);
  return { ...status, conditions };
}

function hasMoved(before: DeploymentStatus, after: DeploymentStatus): boolean {
  const number = (value: number | undefined) => value ?? 0;
  const old = (status: DeploymentStatus) => number(status.replicas) - number(status.updatedReplicas);
  return (
    number(after.updatedReplicas) > number(before.updatedReplicas) ||
    old(after) < old(before) ||
    number(after.readyReplicas) > number(before.readyReplicas) ||
    number(after.availableReplicas) > number(before.availableReplicas)
  );
}

function isLate(deployment: Deployment, clock: Clock): boolean {
  const condition = progressing(deployment.status);
  if (!condition || condition.reason === "NewReplicaSetAvailable") return false;
  if (condition.reason === "ProgressDeadlineExceeded") return true;
  return Date.parse(condition.lastUpdateTime!) + deployment.spec.progressDeadlineSeconds! * 1000 < clock.now();
}

/** Milliseconds until the deadline of a rollout that is under way. */
export function untilDeadline(deployment: Deployment, status: DeploymentStatus, clock: Clock): number | undefined {
  const condition = progressing(status);
  if (!hasProgressDeadline(deployment) || !condition) return undefined;
  if (condition.reason === "ProgressDeadlineExceeded" || isComplete(deployment, status)) return undefined;
  const due = Date.parse(condition.lastUpdateTime!) + deployment.spec.progressDeadlineSeconds! * 1000;
  return Math.max(0, due - clock.now()) + 1000;
}

function failureOf(sets: Sets): Omit<DeploymentCondition, "lastUpdateTime" | "lastTransitionTime"> | undefined {
  const failed = (set: ReplicaSet | undefined) =>
    set?.status?.conditions?.find(({ type }) => type === "ReplicaFailure");
  const found = failed(sets.current) ?? allSets(sets).map(failed).find(Boolean);
  return found && { type: found.type, status: found.status, reason: found.reason!, message: found.message! };
}
