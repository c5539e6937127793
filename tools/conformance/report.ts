import type { SpecResult } from "./run-spec.ts";

/** What passed and what failed, by area; then why each failure failed; then the sum. */
export function reportText(results: readonly SpecResult[]): string {
  const areas = Map.groupBy(results, ({ spec }) => `${spec.sig} / ${spec.area}`);
  const width = Math.max(0, ...[...areas.keys()].map((name) => name.length));
  const table = [...areas]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, ofArea]) => `${name.padEnd(width)}  ${sumText(ofArea)}`);
  const failures = results
    .filter(({ passed }) => !passed)
    .map(({ spec, reason }) => `FAILED ${spec.name}\n    ${reason}`);
  const parts = [table.join("\n"), failures.join("\n"), sumText(results)];
  return parts.filter((part) => part !== "").join("\n\n");
}

/** `N passed (N of them on the second try), N failed (N of them twice)`: a second try is never silent. */
export function sumText(results: readonly SpecResult[]): string {
  const [passed = [], failed = []] = [true, false].map((verdict) => results.filter((one) => one.passed === verdict));
  const again = (some: readonly SpecResult[]) => some.filter(({ secondTry }) => secondTry).length;
  return `${passed.length} passed (${again(passed)} of them on the second try), ${failed.length} failed (${again(failed)} of them twice)`;
}

/** The score of a sample of specs that were held out: which, how many passed, and why the others did not. */
export function heldOutText(results: readonly SpecResult[], sample: { seed: string; of: number }): string {
  const passed = results.filter((result) => result.passed).length;
  const skipped = results.filter(({ reason }) => reason.startsWith("skipped: ")).length;
  const drawn = `drawn with seed ${sample.seed} from ${sample.of} specs without the tags Conformance, Feature, Slow, Serial, Disruptive, Flaky and Driver`;
  const tries = results.filter(({ secondTry }) => secondTry).length;
  return `held-out score: ${passed} of ${results.length} passed, ${skipped} skipped themselves, ${tries} second tries; ${drawn}`;
}
