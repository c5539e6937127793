import { AssertionError } from "node:assert";
import type { Exploration } from "./finding.ts";
import { explorationText, findingText } from "./report-text.ts";

/**
 * Fails a test with the findings of an exploration, each with its faults and its timeline:
 *
 * ```ts
 * assertNoFindings(await explore(scenario));
 * ```
 */
export function assertNoFindings(exploration: Exploration): void {
  if (exploration.findings.length === 0) return;
  const message = [...exploration.findings.map(findingText), explorationText(exploration)].join("\n\n");
  throw new AssertionError({ message, stackStartFn: assertNoFindings });
}
