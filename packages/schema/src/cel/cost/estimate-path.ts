/**
 * Where in a schema the data of an expression comes from: `self`, `items`, `@items`, `name`.
 *
 * The API server holds such paths in slices of Go, and a path made by adding a step to another can share its memory: a
 * later path with a different last step then overwrites it. Its estimates depend on that, and CRDs are accepted or
 * refused by them, so paths share memory here in the same way.
 */
export class Path {
  static readonly none = new Path([], 0, 0);
  readonly #memory: string[];
  readonly length: number;
  readonly #capacity: number;

  private constructor(memory: string[], length: number, capacity: number) {
    this.#memory = memory;
    this.length = length;
    this.#capacity = capacity;
  }

  static of(variable: string): Path {
    return new Path([variable], 1, 1);
  }

  add(step: string): Path {
    if (this.length < this.#capacity) {
      this.#memory[this.length] = step;
      return new Path(this.#memory, this.length + 1, this.#capacity);
    }
    return new Path([...this.steps(), step], this.length + 1, Math.max(1, this.#capacity * 2));
  }

  /** A copy of the path, one step longer. */
  copyWith(step: string): Path {
    return new Path([...this.steps(), step], this.length + 1, this.length + 1);
  }

  steps(): string[] {
    return this.#memory.slice(0, this.length);
  }
}
