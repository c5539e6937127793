import type { Clock } from "@konverge/core";

/** A clock on which time passes `scale` times as fast as on another: back-offs and schedules come sooner. */
export function scaledClock(clock: Clock, scale: number): Clock {
  if (!(scale > 0) || !Number.isFinite(scale)) throw new RangeError(`a time scale is a number above 0, not ${scale}`);
  if (scale === 1) return clock;
  const start = clock.now();
  const origin = clock.monotonic();
  const monotonic = () => (clock.monotonic() - origin) * scale;
  return {
    now: () => start + monotonic(),
    monotonic,
    after: (ms, task, options) => clock.after(ms / scale, task, options),
    post: (task, label) => clock.post(task, label),
    random: clock.random,
  };
}
