import { type ConditionState, type Conditions, conditionFalse, conditionTrue } from "@konverge/core";
import type { ChildState } from "../apply/child-state.ts";

/** As many children are named in a message; of the others there is a number. */
const NAMED = 3;

/**
 * What the children's readiness says about their owner: Ready when all are, Progressing while some are on their way,
 * Degraded when some cannot get there without help. Stalled is withdrawn: the reconcile succeeded.
 */
export function conditionsFromChildren(states: readonly ChildState[]): Conditions {
  const failed = states.filter(({ readiness }) => readiness.status === "Failed" || readiness.status === "Unknown");
  const moving = states.filter(
    ({ readiness }) =>
      readiness.status !== "Current" && readiness.status !== "Failed" && readiness.status !== "Unknown",
  );
  const Degraded = failed.length > 0 ? conditionTrue("ChildrenFailed", told(failed)) : conditionFalse("AsExpected");
  const Progressing =
    moving.length > 0 ? conditionTrue("ChildrenNotReady", told(moving)) : conditionFalse("AsExpected");
  const others = { Progressing, Degraded, Stalled: undefined };
  if (failed.length > 0) return { Ready: conditionFalse("ChildrenFailed", told(failed)), ...others };
  if (moving.length > 0) return { Ready: conditionFalse("ChildrenNotReady", told(moving)), ...others };
  return { Ready: conditionTrue("AsExpected"), ...others };
}

/**
 * A reconciler may say Ready before all children are: because the object serves its clients already, or because it
 * judged by the children as they were before it changed them. Reconciling then makes clients that wait for the spec, by
 * the rules of kstatus, continue to wait.
 */
export function stillReconciling(stated: ConditionState | undefined, states: readonly ChildState[]) {
  const unready = states.filter(({ readiness }) => readiness.status !== "Current");
  return stated?.status === "True" && unready.length > 0 ? conditionTrue("ChildrenNotReady", told(unready)) : undefined;
}

/**
 * What an error that keeps a reconcile from succeeding says about the object. Stalled means, by kstatus' rules, that
 * waiting does not help: a user has to change something.
 */
export function conditionsFromError(reason: string, message: string, options: { permanent: boolean }): Conditions {
  return {
    Ready: conditionFalse(reason, message),
    Progressing: options.permanent ? conditionFalse(reason, message) : conditionTrue(reason, message),
    Degraded: conditionTrue(reason, message),
    Stalled: options.permanent ? conditionTrue(reason, message) : undefined,
    Reconciling: undefined,
  };
}

function told(states: readonly ChildState[]): string {
  const named = states
    .slice(0, NAMED)
    .map(({ name, readiness }) => `${name}: ${readiness.message || readiness.status}`);
  const others = states.length - named.length;
  return [...named, ...(others > 0 ? [`and ${others} more`] : [])].join("; ");
}
