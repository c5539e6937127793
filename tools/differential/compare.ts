import { isObject } from "@konverge/core";
import type { Result } from "./play.ts";

/** One place where two servers differ. */
export interface Difference {
  readonly script: string;
  readonly step: number;
  readonly what: string;
  /** `.body.spec.replicas` */
  readonly path: string;
  readonly real: unknown;
  readonly embedded: unknown;
}

/** Every difference between two normalized transcripts of a script. */
export function compare(script: string, real: readonly Result[], embedded: readonly Result[]): Difference[] {
  const differences: Difference[] = [];
  const [theirs, ours] = [byStep(real), byStep(embedded)];
  for (const key of new Set([...theirs.keys(), ...ours.keys()])) {
    const [a, b] = [theirs.get(key), ours.get(key)];
    const { step, what } = (a ?? b)!;
    visit(a, b, "", (path, x, y) => differences.push({ script, step, what, path, real: x, embedded: y }));
  }
  return differences.sort((a, b) => a.step - b.step);
}

/** A step that is repeated gives several results. */
function byStep(results: readonly Result[]): Map<string, Result> {
  const counts = new Map<number, number>();
  return new Map(
    results.map((result) => {
      const count = (counts.get(result.step) ?? 0) + 1;
      counts.set(result.step, count);
      return [`${result.step}/${count}`, result];
    }),
  );
}

function visit(
  real: unknown,
  embedded: unknown,
  path: string,
  report: (path: string, real: unknown, embedded: unknown) => void,
): void {
  if (Object.is(real, embedded)) return;
  if (Array.isArray(real) && Array.isArray(embedded) && real.length === embedded.length) {
    for (const [index, item] of real.entries()) visit(item, embedded[index], `${path}[${index}]`, report);
    return;
  }
  if (isObject(real) && isObject(embedded)) {
    for (const key of new Set([...Object.keys(real), ...Object.keys(embedded)]))
      visit(real[key], embedded[key], `${path}.${key}`, report);
    return;
  }
  report(path, real, embedded);
}
