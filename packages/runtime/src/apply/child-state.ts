import { type KubeObject, type ObjectKey, type Readiness, readinessOf } from "@konverge/core";
import type { PlannedChild } from "./child.ts";

/** How far a child is from its desired state. */
export interface ChildState {
  /** `Deployment.apps default/web`. */
  readonly name: string;
  readonly key: ObjectKey;
  readonly planned: PlannedChild;
  /** As the server has it; undefined if it is not there. */
  readonly object: KubeObject | undefined;
  readonly readiness: Readiness;
}

/** How ready a child is that has been applied. */
export function readinessOfChild({ options }: PlannedChild, object: KubeObject, now: number): Readiness {
  if (!options.readyWhen) return readinessOf(object, now);
  if (object.metadata.deletionTimestamp) return readinessOf(object, now);
  return options.readyWhen(object)
    ? { status: "Current", reason: "", message: "" }
    : { status: "InProgress", reason: "NotReady", message: "it is not ready yet" };
}

export const isReady = ({ readiness }: ChildState) => readiness.status === "Current";

/** It waits, for others or for its predecessor to go. */
export function waiting(reason: string, message: string): Readiness {
  return { status: "InProgress", reason, message };
}
