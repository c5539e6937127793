import { passedTogether, runSpec, type SpecResult, type SpecRun } from "./run-spec.ts";
import type { Spec } from "./specs.ts";

/**
 * Runs specs, several at a time; those that must be alone come last. A spec that fails in a process with others is run again
 * in a separate one: that result counts, has the reason, and is reported as a retry.
 */
export async function runSpecs(
  specs: readonly Spec[],
  jobs: number,
  run: SpecRun,
  onResult: (result: SpecResult) => void,
): Promise<SpecResult[]> {
  const results: SpecResult[] = [];
  const work = async (queue: Spec[][]) => {
    for (let batch = queue.shift(); batch; batch = queue.shift()) {
      const passed = batch.length > 1 ? await passedTogether(batch, run) : new Set<string>();
      for (const spec of batch) {
        const result = passed.has(spec.name)
          ? { spec, passed: true, secondTry: false, reason: "", output: "" }
          : { ...(await runSpec(spec, run)), secondTry: batch.length > 1 };
        results.push(result);
        onResult(result);
      }
    }
  };
  const together = batches(
    specs.filter(({ serial }) => !serial),
    run.batch,
  );
  await Promise.all(Array.from({ length: jobs }, () => work(together)));
  await work(
    batches(
      specs.filter(({ serial }) => serial),
      run.batch,
    ),
  );
  return results.sort((a, b) => (a.spec.name < b.spec.name ? -1 : 1));
}

/** Slow specs run in separate processes: the others of a batch would wait for them. */
function batches(specs: readonly Spec[], size: number): Spec[][] {
  const isSlow = ({ name }: Spec) => name.includes("[Slow]");
  const quick = specs.filter((spec) => !isSlow(spec));
  const made = specs.filter(isSlow).map((spec) => [spec]);
  for (let at = 0; at < quick.length; at += size) made.push(quick.slice(at, at + size));
  return made;
}
