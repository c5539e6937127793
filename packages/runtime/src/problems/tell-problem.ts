import {
  type Condition,
  type Conditions,
  conditionFalse,
  conditionTrue,
  findCondition,
  type KubeObject,
} from "@konverge/core";
import type { EventSink } from "../events/recorder.ts";
import type { WorkloadProblem } from "./problem.ts";

/** The conditions of an object with a problem: Ready is False and Degraded is True. */
export function problemConditions({ reason, message }: WorkloadProblem): Conditions {
  return { Ready: conditionFalse(reason, message), Degraded: conditionTrue(reason, message) };
}

/** Records a Warning event when a problem appears or changes. The Degraded condition shows what was reported before. */
export function reportProblem(object: KubeObject, problem: WorkloadProblem | undefined, events: EventSink): void {
  const { status } = object as { status?: { conditions?: Condition[] } };
  const known = findCondition(status?.conditions, "Degraded");
  if (problem && (known?.status !== "True" || known.reason !== problem.reason))
    events.warning(problem.reason, problem.message);
}
