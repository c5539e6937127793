import type { SpecResult } from "./run-spec.ts";

/** What passed and what failed, by area; then why each failure failed; then the sum. */
export function reportText(results: readonly SpecResult[]): string {
  const areas = new Map<string, { sig: string; passed: number; failed: number }>();
  for (const { spec, passed } of results) {
    const key = `${spec.sig} / ${spec.area}`;
    const area = areas.get(key) ?? { sig: spec.sig, passed: 0, failed: 0 };
    if (passed) area.passed++;
    else area.failed++;
    areas.set(key, area);
  }
  const width = Math.max(0, ...[...areas.keys()].map((name) => name.length));
  const table = [...areas]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { passed, failed }]) => `${name.padEnd(width)}  ${count(passed)} passed ${count(failed)} failed`);
  const failures = results
    .filter(({ passed }) => !passed)
    .map(({ spec, reason }) => `FAILED ${spec.name}\n    ${reason}`);
  const parts = [table.join("\n"), failures.join("\n"), sumText(results)];
  return parts.filter((part) => part !== "").join("\n\n");
}

/** `N passed, N failed`. */
export function sumText(results: readonly SpecResult[]): string {
  const passed = results.filter((result) => result.passed).length;
  return `${passed} passed, ${results.length - passed} failed`;
}

function count(value: number): string {
  return String(value).padStart(3);
}
