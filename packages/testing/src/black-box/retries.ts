import type { ExploredRun } from "../explorer/oracle.ts";

/** The default of kopf, the longest of the known frameworks, and some more. */
const LONGEST_KNOWN = 75_000;
const SHORTEST = 15_000;
/** A retry may take this many times the longest one that was observed: most back off. */
const FACTOR = 3;
/** With fewer retries, nothing is known. */
const ENOUGH = 5;

/** How long an operator takes to try again after a failed request, from what was observed of it. */
export class Retries {
  readonly #observed: number[] = [];
  #unanswered = 0;

  /** A request that failed by a fault, and the next one that is the same. */
  observe({ timeline }: Pick<ExploredRun, "timeline">): void {
    timeline.forEach(({ result, what, at }, i) => {
      if (!/by a fault$|cut|lost$|refused/.test(result ?? "")) return;
      const next = timeline.slice(i + 1).find((entry) => entry.who === "operator" && entry.what === what);
      if (next) this.#observed.push(next.at - at);
      else this.#unanswered++;
    });
  }

  /** How long to wait for the next one, in milliseconds. */
  get longest(): number {
    // A request that is never sent again may be one that is sent later than was waited for.
    if (this.#observed.length < ENOUGH || this.#unanswered > 0) return LONGEST_KNOWN;
    return Math.min(LONGEST_KNOWN, Math.max(SHORTEST, FACTOR * Math.max(...this.#observed)));
  }
}
