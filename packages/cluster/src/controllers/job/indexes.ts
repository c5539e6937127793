import type { Pod } from "@konverge/kinds";

const INDEX = "batch.kubernetes.io/job-completion-index";
const FAILURES = "batch.kubernetes.io/job-index-failure-count";
const IGNORED_FAILURES = "batch.kubernetes.io/job-index-ignored-failure-count";

export { FAILURES as FAILURE_COUNT, IGNORED_FAILURES as IGNORED_FAILURE_COUNT, INDEX as COMPLETION_INDEX };

/** The index that a pod works on, if it has a valid one. */
export function indexOf({ metadata }: Pod): number | undefined {
  const text = metadata.annotations?.[INDEX];
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

/** How often its index had failed before this pod, in the count that limits it. */
export const failuresBefore = ({ metadata }: Pod): number => Number(metadata.annotations?.[FAILURES] ?? 0) || 0;

/** How often its index had failed before this pod without that being counted. */
export const ignoredFailuresBefore = ({ metadata }: Pod): number =>
  Number(metadata.annotations?.[IGNORED_FAILURES] ?? 0) || 0;

/** A set of indexes, written as a Job's status has it: `0,2-5,7`. */
export class IndexSet {
  readonly #indexes: Set<number>;

  constructor(indexes: Iterable<number> = []) {
    this.#indexes = new Set(indexes);
  }

  /** Reads a text; indexes from `limit` on are left out, since the Job may have become smaller. */
  static parse(text: string | undefined, limit = Number.POSITIVE_INFINITY): IndexSet {
    const indexes: number[] = [];
    for (const part of (text ?? "").split(",").filter(Boolean)) {
      const [first, last = first] = part.split("-").map(Number) as [number, number?];
      for (let i = first; i <= last! && i < limit; i++) indexes.push(i);
    }
    return new IndexSet(indexes);
  }

  get size(): number {
    return this.#indexes.size;
  }

  has(index: number): boolean {
    return this.#indexes.has(index);
  }

  with(more: Iterable<number>): IndexSet {
    return new IndexSet([...this.#indexes, ...more]);
  }

  toString(): string {
    const parts: string[] = [];
    const sorted = [...this.#indexes].sort((a, b) => a - b);
    for (let i = 0; i < sorted.length; i++) {
      const first = sorted[i]!;
      while (sorted[i + 1] === sorted[i]! + 1) i++;
      const last = sorted[i]!;
      // Two in a row are listed, three or more are a range.
      parts.push(first === last ? `${first}` : last === first + 1 ? `${first},${last}` : `${first}-${last}`);
    }
    return parts.join(",");
  }
}
