import type { Clock } from "./clock.ts";

const beneath = new WeakMap<Clock, Clock>();

/** Says that a clock is made from another. */
export function standsOn(clock: Clock, other: Clock): void {
  beneath.set(clock, unscaled(other));
}

/** The clock beneath a scaled one: for what takes the machine's time however fast the cluster's passes. */
export function unscaled(clock: Clock): Clock {
  return beneath.get(clock) ?? clock;
}
