import type { ChildrenOutcome } from "../apply/outcome.ts";
import type { ReconcileResult } from "../definition/definition.ts";

const NO_CHILDREN: ChildrenOutcome = { created: [], deleted: [], refused: [] };

/** A result with what its `report` adds. `outcome`: undefined if no children were returned. */
export function reportedResult(result: ReconcileResult, outcome: ChildrenOutcome | undefined): ReconcileResult {
  const reported = result.report?.(outcome ?? NO_CHILDREN);
  if (!reported) return result;
  return { ...result, ...reported, conditions: { ...result.conditions, ...reported.conditions } };
}
