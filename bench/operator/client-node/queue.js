const WORKERS = 10;

/**
 * A queue in which each key is at most once. A key that is added while a worker has it is worked on again afterwards; one whose
 * work fails is retried with a growing delay.
 */
export class Queue {
  #work;
  #waiting = new Set();
  #busy = new Set();
  #again = new Set();
  #failures = new Map();

  constructor(work) {
    this.#work = work;
  }

  add(key) {
    if (this.#busy.has(key)) this.#again.add(key);
    else this.#waiting.add(key);
    this.#next();
  }

  #next() {
    for (const key of this.#waiting) {
      if (this.#busy.size >= WORKERS) return;
      this.#waiting.delete(key);
      this.#busy.add(key);
      void this.#run(key);
    }
  }

  async #run(key) {
    try {
      await this.#work(key);
      this.#failures.delete(key);
    } catch (error) {
      const failures = (this.#failures.get(key) ?? 0) + 1;
      this.#failures.set(key, failures);
      if (failures > 3) console.error(error);
      setTimeout(() => this.add(key), Math.min(5 * 2 ** failures, 60_000));
    }
    this.#busy.delete(key);
    if (this.#again.delete(key)) this.#waiting.add(key);
    this.#next();
  }
}
