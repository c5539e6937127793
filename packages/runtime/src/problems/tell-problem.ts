import {
  type Condition,
  type Conditions,
  conditionFalse,
  conditionTrue,
  findCondition,
  type KubeObject,
} from "@konverge/core";
import type { EventSink } from "../events/event-sink.ts";
import type { WorkloadProblem } from "./problem.ts";

/** The conditions of an object with a problem: not Ready, and Degraded. */
export function problemConditions({ reason, message }: WorkloadProblem): Conditions {
  return { Ready: conditionFalse(reason, message), Degraded: conditionTrue(reason, message) };
}

/** Reports a problem once, when it appears or changes: the Degraded condition has what was reported before. */
export function reportProblem(object: KubeObject, problem: WorkloadProblem | undefined, events: EventSink): void {
  const { status } = object as { status?: { conditions?: Condition[] } };
  const known = findCondition(status?.conditions, "Degraded");
  if (problem && (known?.status !== "True" || known.reason !== problem.reason))
    events.warning(problem.reason, problem.message);
}
