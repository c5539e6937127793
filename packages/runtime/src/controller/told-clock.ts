import type { Clock, Random } from "@konverge/core";
import type { ReconcileObserver } from "../observe/observer.ts";

/** A clock that tells which times and random numbers it gave: all that a reconciler's answer may depend on unseen. */
export function toldClock(clock: Clock, drew: NonNullable<ReconcileObserver["inputRead"]>): Clock {
  const told = <V extends number | string>(what: Parameters<typeof drew>[0], value: V): V => {
    drew(what, value);
    return value;
  };
  return {
    now: () => told("now", clock.now()),
    monotonic: () => told("monotonic", clock.monotonic()),
    after: (ms, task, options) => clock.after(ms, task, options),
    post: (task, label) => clock.post(task, label),
    random: drawnFrom(
      () => told("next", clock.random.next()),
      () => told("uuid", clock.random.uuid()),
    ),
  };
}

/** Randomness that comes from two functions alone. */
export function drawnFrom(next: () => number, uuid: () => string): Random {
  const random: Random = {
    next,
    uuid,
    below: (bound) => Math.floor(next() * bound),
    pick(items) {
      if (items.length === 0) throw new RangeError("there is nothing to pick from");
      return items[random.below(items.length)] as (typeof items)[number];
    },
    fork: () => random,
  };
  return random;
}
