import type { Client } from "@konverge/client";
import type { VirtualClock } from "@konverge/core";

/** Advances a virtual clock as far as something waits for it. */
export class VirtualTime {
  readonly clock: VirtualClock;

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
      if (!(await this.clock.step()) && !settled()) {
        throw new Error("nothing changes in the cluster anymore, and the awaited condition is not met");
      }
    }
    return promise;
  }

  /** Lets time pass. */
  async pass(ms: number): Promise<void> {
    await this.clock.advance(ms);
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
