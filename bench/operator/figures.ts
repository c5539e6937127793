/** What was measured of each operator: by its name, by what was measured, one value for each round. */
export type Samples = ReadonlyMap<string, ReadonlyMap<string, readonly number[]>>;
/** One value for each operator and what was measured. */
export type Figures = ReadonlyMap<string, ReadonlyMap<string, number>>;

export const REFERENCE = "controller-runtime";
/** What describes the load and not the operator. */
const ABOUT_THE_LOAD: ReadonlySet<string> = new Set(["steady: created per s"]);

export function median(values: readonly number[]): number {
  if (values.length === 0) throw new Error("there is no median of nothing");
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export function mediansOf(samples: Samples): Figures {
  return mapValues(samples, (values) => median(values));
}

/** How much of something an operator uses for each unit that the reference uses. Nothing compared with nothing is as much. */
export function ratio(value: number, reference: number): number {
  if (reference === 0) return value === 0 ? 1 : Number.POSITIVE_INFINITY;
  return value / reference;
}

/** Ratios to the reference, of what both have; none without the reference. */
export function ratiosOf(medians: Figures): Figures {
  const reference = medians.get(REFERENCE);
  if (!reference) return new Map();
  return mapValues(medians, (value, what) => {
    const theirs = reference.get(what);
    return theirs === undefined || ABOUT_THE_LOAD.has(what) ? undefined : ratio(value, theirs);
  });
}

/** A ratio that is not what was committed. Without `now`, it was not measured. */
export interface Change {
  readonly what: string;
  readonly before: number;
  readonly now?: number;
}

/**
 * How an operator's ratios differ from the committed ones by more than a tolerance, such as 0.25 for a quarter. Less is better
 * everywhere. A missing ratio counts as worse, so that nothing escapes the comparison by not being measured.
 */
export function compareRatios(
  committed: ReadonlyMap<string, number>,
  fresh: ReadonlyMap<string, number>,
  tolerance: number,
): { worse: Change[]; better: Change[] } {
  const worse: Change[] = [];
  const better: Change[] = [];
  for (const [what, before] of committed) {
    const now = fresh.get(what);
    if (now === undefined) worse.push({ what, before });
    else if (now > before * (1 + tolerance)) worse.push({ what, before, now });
    else if (now < before / (1 + tolerance)) better.push({ what, before, now });
  }
  return { worse, better };
}

function mapValues<T>(
  figures: ReadonlyMap<string, ReadonlyMap<string, T>>,
  change: (value: T, what: string) => number | undefined,
): Figures {
  const changed = new Map<string, Map<string, number>>();
  for (const [name, values] of figures) {
    const entries = [...values].flatMap(([what, value]) => {
      const result = change(value, what);
      return result === undefined ? [] : [[what, result] as const];
    });
    changed.set(name, new Map(entries));
  }
  return changed;
}
