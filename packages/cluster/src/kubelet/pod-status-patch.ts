import type { PodCondition, PodStatus } from "@konverge/kinds";

/** The conditions of a pod whose resize is not complete: removed when it is. */
const RESIZE_CONDITIONS = ["PodResizePending", "PodResizeInProgress"];

/**
 * The strategic merge patch that makes a pod report `next` where it reports `current`: as a kubelet's, it also removes
 * what is no longer the case. A field that is merely absent from a patch keeps its value, so that a pod that becomes
 * Ready would keep the reason why it was not. Conditions of other clients stay as they are.
 */
export function podStatusPatch(current: PodStatus | undefined, next: PodStatus): object {
  if (!current) return next;
  const conditions = next.conditions ?? [];
  const previous = new Map((current.conditions ?? []).map((condition) => [condition.type, condition]));
  const resized = RESIZE_CONDITIONS.filter(
    (type) => previous.has(type) && !conditions.some((one) => one.type === type),
  );
  return {
    ...removals(current, next, ["reason", "message", "initContainerStatuses", "ephemeralContainerStatuses"]),
    ...next,
    conditions: [
      ...conditions.map((condition) => ({
        ...removals(previous.get(condition.type), condition, ["reason", "message"] satisfies (keyof PodCondition)[]),
        ...condition,
      })),
      ...resized.map((type) => ({ type, $patch: "delete" })),
    ],
  };
}

function removals<T extends object>(current: T | undefined, next: T, fields: (keyof T & string)[]) {
  const removed = fields.filter((field) => current?.[field] !== undefined && next[field] === undefined);
  return Object.fromEntries(removed.map((field) => [field, null]));
}
