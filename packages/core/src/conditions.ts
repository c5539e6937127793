import type { Condition } from "./object.ts";

/** A condition as a reconciler returns it; the runtime adds times and generations. */
export interface ConditionState {
  readonly status: Condition["status"];
  /** One word in CamelCase. */
  readonly reason: string;
  readonly message?: string | undefined;
}

/** Conditions by type. Undefined removes a condition. */
export type Conditions = Readonly<Record<string, ConditionState | undefined>>;

/** When a condition is stated: the generation of the object that was looked at, and the time for a transition. */
export interface ConditionStamp {
  readonly generation: number | undefined;
  readonly time: string;
}

/** The condition holds: `conditionTrue("Available")`. */
export const conditionTrue = (reason: string, message = ""): ConditionState => ({ status: "True", reason, message });

/** The condition does not hold: `conditionFalse("Progressing", "1 of 3 ready")`. */
export const conditionFalse = (reason: string, message = ""): ConditionState => ({ status: "False", reason, message });

/** It is not known whether the condition holds. */
export const conditionUnknown = (reason: string, message = ""): ConditionState => ({
  status: "Unknown",
  reason,
  message,
});

/** An object whose status can have conditions. */
export interface WithConditions {
  readonly status?: { readonly conditions?: readonly Condition[] | undefined } | undefined;
}

/** The condition of a type, if there is one. */
export function findCondition(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** Whether an object has a condition with this status. */
export function hasCondition(object: WithConditions, type: string, status: Condition["status"] = "True"): boolean {
  return findCondition(object.status?.conditions, type)?.status === status;
}

/**
 * The list with one condition replaced, in its old place, or added at the end. Its transition time changes only when its
 * status does. The same list is returned when nothing changes.
 */
export function setCondition(
  conditions: readonly Condition[] = [],
  type: string,
  state: ConditionState,
  at: ConditionStamp,
): readonly Condition[] {
  const known = findCondition(conditions, type);
  const stamped = stamp(type, state, known, at);
  if (!known) return [...conditions, stamped];
  if (isSame(known, stamped)) return conditions;
  return conditions.map((condition) => (condition === known ? stamped : condition));
}

/** The list without a condition; the same list if it was not there. */
export function removeCondition(conditions: readonly Condition[] = [], type: string): readonly Condition[] {
  return findCondition(conditions, type) ? conditions.filter((condition) => condition.type !== type) : conditions;
}

/**
 * All stated conditions as the status carries them, in the order of the statement, so that an unchanged statement gives an
 * unchanged list. Conditions in `known` that are not stated belong to others and are left out.
 */
export function stampConditions(stated: Conditions, known: readonly Condition[], at: ConditionStamp): Condition[] {
  return Object.entries(stated).flatMap(([type, state]) =>
    state ? [stamp(type, state, findCondition(known, type), at)] : [],
  );
}

function stamp(type: string, state: ConditionState, known: Condition | undefined, at: ConditionStamp): Condition {
  return {
    type,
    status: state.status,
    reason: state.reason,
    message: state.message ?? "",
    lastTransitionTime: known?.status === state.status ? known.lastTransitionTime : at.time,
    ...(at.generation !== undefined && { observedGeneration: at.generation }),
  };
}

function isSame(a: Condition, b: Condition): boolean {
  return (
    a.status === b.status &&
    a.reason === b.reason &&
    a.message === b.message &&
    a.observedGeneration === b.observedGeneration
  );
}
