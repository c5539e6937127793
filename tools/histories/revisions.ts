import type { Evidence } from "./evidence.ts";
import { describe, type History, type Operation, revisionOf } from "./history.ts";

/** The highest revision that any client had observed by a moment. */
export class Observed {
  readonly #times: number[] = [];
  readonly #highest: number[] = [];

  constructor(history: History) {
    let highest = 0;
    for (const [at, revision] of observations(history).sort(([a], [b]) => a - b)) {
      if (revision <= highest) continue;
      highest = revision;
      this.#times.push(at);
      this.#highest.push(revision);
    }
  }

  /** What was observed strictly before a moment. */
  before(moment: number): number {
    return this.#highest[countBelow(this.#times, moment) - 1] ?? 0;
  }
}

function observations({ operations, listings, streams }: History): [at: number, revision: number][] {
  return [
    ...operations.flatMap(({ result, returned }): [number, number][] =>
      "version" in result ? [[returned, result.version.revision]] : [],
    ),
    ...listings.map(({ returned, revision }): [number, number] => [returned, revision]),
    ...streams.flatMap(({ events }) => events.map((event): [number, number] => [event.at, revisionOf(event)])),
  ];
}

/** Writes whose revision is not above all that was observed before they were called. */
export function notMonotone(operations: readonly Operation[], observed: Observed): string[] {
  return operations.flatMap((operation) => {
    const { result, called } = operation;
    if (result.is !== "stored") return [];
    const before = observed.before(called);
    return result.version.revision > before ? [] : [`after revision ${before} was observed: ${describe(operation)}`];
  });
}

/** Reads that are older than they may be: than what was observed before a consistent one, than the revision that was requested. */
export function tooOld({ operations, listings }: History, observed: Observed, evidence: Evidence): string[] {
  const lists = listings.flatMap(({ client, resource, at, isExact, revision, called }) => {
    const least = at === "" ? observed.before(called) : Number(at);
    const isRight = isExact ? revision === least : revision >= least;
    const requested = at === "" ? "everything observed before" : `revision ${at}`;
    return isRight ? [] : [`${client}: a list of ${resource} at ${requested} (${least}) is of revision ${revision}`];
  });
  const gets = operations.flatMap((operation) => {
    const { action, result, resource, name } = operation;
    if (action.verb !== "get" || action.at === undefined || result.is !== "found") return [];
    const later = (evidence.changes.get(`${resource}/${name}`) ?? []).find(
      ({ revision }) => revision > result.version.revision && revision <= Number(action.at),
    );
    return later ? [`changed at ${later.revision} since: ${describe(operation)}`] : [];
  });
  return [...lists, ...gets];
}

function countBelow(sorted: readonly number[], bound: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}
