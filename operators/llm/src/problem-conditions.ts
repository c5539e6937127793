import { type Condition, type Conditions, type EventSink, findCondition, type KubeObject, no, yes } from "konverge";
import type { Problem } from "./replica-problems.ts";

/** What a problem means for an object: it is not ready, and will not be without help. */
export function problemConditions({ reason, message }: Problem): Conditions {
  return { Ready: no(reason, message), Degraded: yes(reason, message) };
}

/** Tells users of a problem once, when it appears or becomes another. */
export function tellProblem(object: KubeObject, problem: Problem | undefined, events: EventSink): void {
  const { status } = object as { status?: { conditions?: Condition[] } };
  const known = findCondition(status?.conditions, "Degraded");
  if (problem && (known?.status !== "True" || known.reason !== problem.reason))
    events.warning(problem.reason, problem.message);
}
