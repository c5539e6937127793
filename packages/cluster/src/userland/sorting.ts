import type { Effort } from "./effort.ts";

/** Items that are sorted in one go. */
const RUN = 256;

/** Sorts any number of items without blocking the event loop. */
export async function sorted<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
  effort: Effort,
): Promise<readonly T[]> {
  let runs: (readonly T[])[] = [];
  for (let at = 0; at < items.length; at += RUN) {
    await effort.spend(RUN / 8);
    runs.push(items.slice(at, at + RUN).sort(compare));
  }
  while (runs.length > 1) {
    const merged: (readonly T[])[] = [];
    for (let at = 0; at < runs.length; at += 2)
      merged.push(await merge(runs[at]!, runs[at + 1] ?? [], compare, effort));
    runs = merged;
  }
  return runs[0] ?? [];
}

async function merge<T>(
  left: readonly T[],
  right: readonly T[],
  compare: (a: T, b: T) => number,
  effort: Effort,
): Promise<readonly T[]> {
  if (right.length === 0) return left;
  const merged: T[] = [];
  for (let [l, r] = [0, 0]; l < left.length || r < right.length; ) {
    const takesLeft = r >= right.length || (l < left.length && compare(left[l]!, right[r]!) <= 0);
    merged.push(takesLeft ? left[l++]! : right[r++]!);
    if (merged.length % RUN === 0) await effort.spend(RUN / 16);
  }
  return merged;
}
