import type { Client } from "@konverge/client";
import { realClock, sleep, type VirtualClock } from "@konverge/core";

/** Real milliseconds after which work that time is held for will not come to an end. */
const LONGEST_HOLD = 60_000;
/** Real milliseconds without anything to do after which such work waits for time itself: a request that is tried again. */
const STALLED = 5_000;
/** Virtual milliseconds that it is given then, each time. What lies further ahead is not what it waits for. */
const LEAP = 30_000;

/** Advances a virtual clock as far as something waits for it. */
export class VirtualTime {
  readonly clock: VirtualClock;
  readonly #machine = realClock();
  #held = 0;
  #heldSince = 0;
  #movedAt = 0;

  constructor(clock: VirtualClock) {
    this.clock = clock;
  }

  /** Waits for a promise, letting time pass as far as it needs. */
  async wait<T>(promise: Promise<T>): Promise<T> {
    const settled = watched(promise);
    await this.clock.step(this.clock.monotonic());
    while (!settled()) {
      // Time moves on only when nothing is left to do at the present moment.
      if ((await this.clock.step(this.clock.monotonic())) || settled()) continue;
      if (this.#held > 0) await this.#holding();
      else if (!(await this.clock.step()) && !settled()) {
        throw new Error("nothing changes in the cluster anymore, and the awaited condition is not met");
      }
    }
    return promise;
  }

  /** Lets time pass. */
  async pass(ms: number): Promise<void> {
    const end = this.clock.monotonic() + ms;
    while (this.#held > 0) {
      if (!(await this.clock.step(this.clock.monotonic()))) await this.#holding();
    }
    await this.clock.advance(Math.max(0, end - this.clock.monotonic()));
  }

  /**
   * Holds time while something is done outside JavaScript: keys and certificates are made by other threads, which the clock
   * does not see. Without it time would run away meanwhile.
   */
  async hold<T>(work: Promise<T>): Promise<T> {
    if (this.#held++ === 0) this.#heldSince = this.#machine.monotonic();
    try {
      return await work;
    } finally {
      this.#held--;
    }
  }

  async #holding(): Promise<void> {
    const now = this.#machine.monotonic();
    if (now - this.#heldSince > LONGEST_HOLD) {
      throw new Error("time is held for work outside JavaScript that does not end");
    }
    if (now - Math.max(this.#heldSince, this.#movedAt) > STALLED) {
      this.#movedAt = now;
      await this.clock.step(this.clock.monotonic() + LEAP);
    } else await sleep(this.#machine, 1);
  }

  /** A client whose calls move the clock on by themselves, so that a scenario can simply await them. */
  patient(client: Client): Client {
    return new Proxy(client, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          const answer: unknown = value.apply(target, args);
          return answer instanceof Promise ? this.wait(answer) : answer;
        };
      },
    });
  }
}

function watched(promise: Promise<unknown>): () => boolean {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  promise.then(settle, settle);
  return () => isSettled;
}
