/** One of the parts that an exploration is divided into, for several processes or machines: 1 to `of`. */
export interface ExplorationPart {
  readonly number: number;
  readonly of: number;
}

/** What of a list belongs to a part: all parts together have everything once. Without a part, all of it. */
export function inPart<T>(all: readonly T[], part: ExplorationPart | undefined): readonly T[] {
  return part ? all.filter((_, i) => i % part.of === part.number - 1) : all;
}

/** Whether a part does what cannot be divided. */
export function isFirst(part: ExplorationPart | undefined): boolean {
  return part === undefined || part.number === 1;
}
