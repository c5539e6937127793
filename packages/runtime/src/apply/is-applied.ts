import type { KindRef, KubeObject } from "@konverge/core";
import { sameApplied } from "../comparison/applied-equality.ts";
import { schemaOf } from "../schema-of.ts";

/**
 * Whether a child is already as its draft says. In the reconcile after a change it is not yet: what it reports about itself
 * then belongs to the time before.
 *
 * ```ts
 * const ready = isApplied(Deployment, draft, observed(draft)) && readinessOf(observed(draft), clock.now()).status === "Current";
 * ```
 */
export function isApplied(kind: KindRef<KubeObject>, draft: KubeObject, live: object | undefined): boolean {
  return live !== undefined && sameApplied(draft, live, schemaOf(kind));
}
