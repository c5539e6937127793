/** What the texts of past changes take, so that the past can be forgotten sooner when objects are large. */
export class HistorySize {
  readonly #limit: number;
  readonly #changes: { readonly revision: number; readonly size: number }[] = [];
  #first = 0;
  #total = 0;

  /** `limit` is in characters. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Notes a change. Returns the revision up to which changes must be forgotten, if they have become too many. */
  add(revision: number, size: number): number | undefined {
    this.#changes.push({ revision, size });
    this.#total += size;
    if (this.#total <= this.#limit) return undefined;
    // To half of it: not with every change again.
    let last = 0;
    while (this.#total > this.#limit / 2 && this.#first < this.#changes.length - 1) last = this.#dropFirst();
    this.#trim();
    return last;
  }

  /** Changes up to and including a revision have been forgotten. */
  forget(revision: number): void {
    while (this.#first < this.#changes.length && this.#changes[this.#first]!.revision <= revision) this.#dropFirst();
    this.#trim();
  }

  #dropFirst(): number {
    const { revision, size } = this.#changes[this.#first++]!;
    this.#total -= size;
    return revision;
  }

  #trim(): void {
    this.#changes.splice(0, this.#first);
    this.#first = 0;
  }
}
