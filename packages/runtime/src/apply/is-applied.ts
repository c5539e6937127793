import type { KindRef, KubeObject } from "@konverge/core";
import { sameApplied } from "../comparison/applied-equality.ts";
import { schemaOf } from "../schema-of.ts";

/**
 * Whether a child matches its draft. In the first reconcile after a change of the draft it does not, so its status
 * still describes the previous state.
 *
 * ```ts
 * const ready = isApplied(Deployment, draft, observed(draft)) && readinessOf(observed(draft), clock.now()).status === "Current";
 * ```
 */
export function isApplied(kind: KindRef<KubeObject>, draft: KubeObject, live: object | undefined): boolean {
  return live !== undefined && sameApplied(draft, live, schemaOf(kind));
}
