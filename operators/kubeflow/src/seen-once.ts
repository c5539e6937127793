const MOST = 10_000;

/**
 * Says whether something is seen for the first time by this process, so that a look that is repeated neither tells nor
 * counts again. It drops the oldest; what is seen again after that is reported again.
 */
export class SeenOnce {
  readonly #seen = new Set<string>();

  first(what: string): boolean {
    if (this.#seen.has(what)) return false;
    this.#seen.add(what);
    if (this.#seen.size > MOST) this.#seen.delete(this.#seen.values().next().value!);
    return true;
  }
}
