import { type Clock, realClock } from "@konverge/core";

/** Thrown where an exploration has to end, within a run as well: what the run has shown so far says nothing. */
export class ExplorationStopped extends Error {}

/** When an exploration ends before everything was tried: after a time, or when it is interrupted. */
export interface ExplorationLimits {
  /** Stop after this many milliseconds of real time. Default: no limit. */
  readonly time?: number;
  /** Stops the exploration when it fires: what was found so far is returned. */
  readonly signal?: AbortSignal;
}

/** The limits of one exploration, counted from now. */
export class Limits {
  readonly #limits: ExplorationLimits;
  readonly #clock: Clock;
  readonly #started: number;

  constructor(limits: ExplorationLimits, clock: Clock = realClock()) {
    this.#limits = limits;
    this.#clock = clock;
    this.#started = clock.monotonic();
  }

  /** Why the exploration has to end now, if it has to. */
  readonly reached = (): string | undefined => {
    const { time, signal } = this.#limits;
    if (signal?.aborted) return "it was interrupted";
    if (time !== undefined && this.#clock.monotonic() - this.#started >= time) return `${time / 1000} s have passed`;
    return undefined;
  };
}

/** Ends the run at hand if the exploration has to end. */
export function throwIfReached(reached: (() => string | undefined) | undefined): void {
  const reason = reached?.();
  if (reason !== undefined) throw new ExplorationStopped(reason);
}
