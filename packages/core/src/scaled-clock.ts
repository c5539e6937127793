import type { Clock } from "./clock.ts";

/** A clock on which time passes `scale` times as fast as on another: back-offs and schedules come sooner. */
export function scaledClock(clock: Clock, scale: number): Clock {
  if (!(scale > 0) || !Number.isFinite(scale)) throw new RangeError(`a time scale is a number above 0, not ${scale}`);
  if (scale === 1) return clock;
  const start = clock.now();
  const origin = clock.monotonic();
  const monotonic = () => (clock.monotonic() - origin) * scale;
  const scaled: Clock = {
    now: () => start + monotonic(),
    monotonic,
    after: (ms, task, options) => clock.after(ms / scale, task, options),
    post: (task, label) => clock.post(task, label),
    random: clock.random,
  };
  standsOn(scaled, clock);
  return scaled;
}

const beneath = new WeakMap<Clock, Clock>();

/** Says that a clock is made from another. */
export function standsOn(clock: Clock, other: Clock): void {
  beneath.set(clock, unscaled(other));
}

/** The clock beneath a scaled one: for what takes the machine's time however fast the cluster's passes. */
export function unscaled(clock: Clock): Clock {
  return beneath.get(clock) ?? clock;
}
