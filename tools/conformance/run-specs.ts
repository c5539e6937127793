import { runSpec, type SpecResult, type SpecRun } from "./run-spec.ts";
import type { Spec } from "./specs.ts";

/** Runs specs, several at a time; those that must be alone come last, one by one. */
export async function runSpecs(
  specs: readonly Spec[],
  jobs: number,
  run: SpecRun,
  onResult: (result: SpecResult) => void,
): Promise<SpecResult[]> {
  const results: SpecResult[] = [];
  const work = async (queue: Spec[]) => {
    for (let spec = queue.shift(); spec; spec = queue.shift()) {
      const result = await runSpec(spec, run);
      results.push(result);
      onResult(result);
    }
  };
  const together = specs.filter(({ serial }) => !serial);
  await Promise.all(Array.from({ length: jobs }, () => work(together)));
  await work(specs.filter(({ serial }) => serial));
  return results.sort((a, b) => (a.spec.name < b.spec.name ? -1 : 1));
}
