/** The conditions of an instance. Pure. */
import { type Conditions, conditionFalse, conditionTrue, conditionUnknown, type KubeObject } from "@konverge/core";
import { healthOf } from "./object-health.ts";

const LONGEST = 32_000;

/** A plan runs. */
export function runningConditions(plan: string, problem: string | undefined): Conditions {
  return {
    Ready: conditionUnknown("PlanInProgress", `the plan ${plan} runs`),
    Progressing: conditionTrue("PlanInProgress", `the plan ${plan} runs`),
    Degraded:
      problem === undefined ? conditionFalse("PlanInProgress") : conditionTrue("TaskError", problem.slice(0, LONGEST)),
  };
}

/** A plan has ended with a fatal error. */
export function failedConditions(plan: string, message: string): Conditions {
  return {
    Ready: conditionUnknown("PlanInFatalError", message.slice(0, LONGEST)),
    Progressing: conditionFalse("PlanInFatalError"),
    Degraded: conditionTrue("PlanInFatalError", `the plan ${plan} has failed`),
  };
}

/** The instance cannot be as it is. */
export function refusedConditions(reason: string, message: string): Conditions {
  const text = message.slice(0, LONGEST);
  return {
    Ready: conditionFalse(reason, text),
    Progressing: conditionFalse(reason),
    Degraded: conditionTrue(reason, text),
  };
}

/** No plan runs: it is ready if its objects are. */
export function idleConditions(objects: readonly KubeObject[], now: number): Conditions {
  const unhealthy = objects.map((object) => healthOf(object, now)).filter(({ state }) => state !== "healthy");
  if (unhealthy.length === 0) {
    return {
      Ready: conditionTrue("ResourcesReady"),
      Progressing: conditionFalse("ResourcesReady"),
      Degraded: conditionFalse("ResourcesReady"),
    };
  }
  const message = unhealthy
    .map((one) => one.message)
    .join(", ")
    .slice(0, LONGEST);
  return {
    Ready: conditionFalse("ResourceNotReady", message),
    Progressing: conditionTrue("ResourceNotReady", message),
    Degraded: conditionFalse("ResourceNotReady"),
  };
}
