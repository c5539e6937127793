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

/** Every difference between two normalised transcripts of a script. */
export function compare(script: string, real: readonly Result[], embedded: readonly Result[]): Difference[] {
  const differences: Difference[] = [];
  const steps = new Set([...real, ...embedded].map((result) => result.step));
  for (const step of [...steps].sort((a, b) => a - b)) {
    const ours = embedded.find((result) => result.step === step);
    const theirs = real.find((result) => result.step === step);
    const what = (theirs ?? ours)!.what;
    visit(theirs, ours, "", (path, a, b) => differences.push({ script, step, what, path, real: a, embedded: b }));
  }
  return differences;
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

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
