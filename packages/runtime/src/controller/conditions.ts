import type { Condition } from "@konverge/core";

/** A condition as a reconciler states it; times and generations are filled in where it is written. */
export interface ConditionState {
  status: Condition["status"];
  /** One word in CamelCase. */
  reason: string;
  message?: string;
}

/** The condition holds. */
export const yes = (reason: string, message = ""): ConditionState => ({ status: "True", reason, message });

/** The condition does not hold. */
export const no = (reason: string, message = ""): ConditionState => ({ status: "False", reason, message });

/** Whether the condition holds is not known. */
export const unknown = (reason: string, message = ""): ConditionState => ({ status: "Unknown", reason, message });

/** Conditions by type. Undefined: the condition is none of ours, or no longer. */
export type Conditions = Record<string, ConditionState | undefined>;

/**
 * Conditions as the status carries them. A transition time changes only when the status does; the order is that of the
 * statement, so that an unchanged statement gives an unchanged list.
 */
export function stampConditions(
  stated: Conditions,
  current: readonly Condition[],
  at: { generation: number | undefined; time: string },
): Condition[] {
  const result: Condition[] = [];
  for (const [type, state] of Object.entries(stated)) {
    if (!state) continue;
    const known = current.find((condition) => condition.type === type);
    result.push({
      type,
      status: state.status,
      reason: state.reason,
      message: state.message ?? "",
      lastTransitionTime: known?.status === state.status ? known.lastTransitionTime : at.time,
      ...(at.generation !== undefined && { observedGeneration: at.generation }),
    });
  }
  return result;
}
