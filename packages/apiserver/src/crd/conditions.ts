import { type Clock, timestamp } from "@konverge/core";
import type { CrdCondition, CustomResourceDefinition } from "./custom-resource-definition.ts";

/** A condition of a CRD, if it has it. */
export function conditionOf(crd: CustomResourceDefinition, type: string): CrdCondition | undefined {
  return crd.status.conditions?.find((condition) => condition.type === type);
}

export function isTrueOf(crd: CustomResourceDefinition, type: string): boolean {
  return conditionOf(crd, type)?.status === "True";
}

/** Sets a condition, in place. When it last changed is about its status alone. */
export function setCondition(
  crd: CustomResourceDefinition,
  clock: Clock,
  [type, status, reason, message]: [type: string, status: "True" | "False", reason: string, message: string],
): void {
  crd.status.conditions ??= [];
  const existing = conditionOf(crd, type);
  const now = timestamp(clock);
  if (!existing) crd.status.conditions.push({ type, status, lastTransitionTime: now, reason, message });
  else {
    if (existing.status !== status || !existing.lastTransitionTime) existing.lastTransitionTime = now;
    Object.assign(existing, { status, reason, message });
  }
}
