import type { Clock, Random } from "@konverge/core";
import type { ReconcileObserver } from "../observe/observer.ts";

/** A clock that reports the times and random numbers that it returns: a reconciler's result can depend on them. */
export function observedClock(clock: Clock, inputRead: NonNullable<ReconcileObserver["inputRead"]>): Clock {
  const observed = <V extends number | string>(what: Parameters<typeof inputRead>[0], value: V): V => {
    inputRead(what, value);
    return value;
  };
  return {
    now: () => observed("now", clock.now()),
    monotonic: () => observed("monotonic", clock.monotonic()),
    after: (ms, task, options) => clock.after(ms, task, options),
    post: (task, label) => clock.post(task, label),
    random: drawnFrom(
      () => observed("next", clock.random.next()),
      () => observed("uuid", clock.random.uuid()),
    ),
    secrets: { text: (length, alphabet) => observed("secret", clock.secrets.text(length, alphabet)) },
  };
}

/** Randomness from two functions. */
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
