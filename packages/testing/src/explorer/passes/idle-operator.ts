import type { OperatorTestEnvironment } from "../../environment/operator-test-environment.ts";

/** Virtual milliseconds in which an operator that has nothing to do must be quiet. */
const REST = 10 * 60_000;
/** As many requests in that time are routine: watches that end are opened again. */
const ROUTINE = 200;

/**
 * What the operators of a test environment do though there is nothing to do: writes, a hot loop of requests, or warnings, unless
 * they have a reason for them.
 */
export async function restlessness(
  environment: OperatorTestEnvironment,
  { hasReason = false, routine = ROUTINE } = {},
): Promise<string[]> {
  const before = {
    writes: environment.writes(),
    requests: environment.requests,
    warnings: environment.warnings.length,
  };
  await environment.advance(REST);
  const problems: string[] = [];
  const writes = environment.writes() - before.writes;
  const requests = environment.requests - before.requests;
  const warnings = environment.warnings.slice(before.warnings);
  if (writes > 0) problems.push(`the operator keeps writing: ${writes} times in ten minutes`);
  if (requests > routine) problems.push(`the operator is in a hot loop: ${requests} requests in ten minutes`);
  if (warnings.length > 0 && !hasReason) {
    problems.push(`the operator keeps logging warnings, ${warnings.length} times in ten minutes: ${warnings.at(-1)}`);
  }
  return problems;
}

/** What went wrong in a run, in one line. */
export function failureText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
