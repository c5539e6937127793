const MOST = 10_000;

/**
 * Remembers what this process has already reported or counted, so that a repeated reconcile does neither again. The oldest
 * entries are dropped; what occurs again after that is reported again.
 */
export class FirstOccurrences {
  readonly #known = new Set<string>();

  first(what: string): boolean {
    if (this.#known.has(what)) return false;
    this.#known.add(what);
    if (this.#known.size > MOST) this.#known.delete(this.#known.values().next().value!);
    return true;
  }
}
