import type { Clock, Timer, TimerOptions } from "./clock.ts";
import type { Random } from "./random.ts";
import type { SecretSource } from "./secrets.ts";
import { standsOn } from "./underlying-clock.ts";

/** Cluster time per machine time while time jumps: requests that take milliseconds still finish before leases expire. */
const JUMP_SPEED = 120;

interface Waiting {
  /** On this clock, in milliseconds. */
  readonly due: number;
  readonly task: () => void;
  readonly options: TimerOptions;
  timer?: Timer | undefined;
}

/**
 * A clock beside another, whose speed can be changed while it runs. A jump lets the time in between pass quickly instead of
 * leaving it out, so that everything that is due in it happens, in order. Speed 0 stops the time; work that waits for no
 * timer goes on.
 */
export class AdjustableClock implements Clock {
  readonly random: Random;
  readonly secrets: SecretSource;
  readonly #machine: Clock;
  readonly #start: number;
  readonly #waiting = new Set<Waiting>();
  #speed: number;
  /** The time on both clocks when the rate was last changed. */
  #elapsed = 0;
  #since: number;
  /** The elapsed time at which a jump ends. */
  #jumpEnd: number | undefined;
  #arrival: Timer | undefined;
  /** Called when the speed has changed, and when a jump begins and ends. */
  changed: (() => void) | undefined;

  constructor(machine: Clock, speed = 1) {
    this.#machine = machine;
    this.#start = machine.now();
    this.#since = machine.monotonic();
    this.#speed = checked(speed);
    this.random = machine.random;
    this.secrets = machine.secrets;
    standsOn(this, machine);
  }

  /** How many times as fast as on the other clock the time passes, when it does not jump. */
  get speed(): number {
    return this.#speed;
  }

  set speed(speed: number) {
    checked(speed);
    this.#change(() => {
      this.#speed = speed;
    });
  }

  /** Where the present jump ends, in milliseconds since 1970. */
  get jumpsTo(): number | undefined {
    return this.#jumpEnd === undefined ? undefined : this.#start + this.#jumpEnd;
  }

  /** Lets `ms` pass quickly, after what is left of a jump that has begun. */
  jump(ms: number): void {
    if (!(ms > 0) || !Number.isFinite(ms))
      throw new RangeError(`a jump is a number of milliseconds above 0, not ${ms}`);
    this.#change(() => {
      this.#jumpEnd = (this.#jumpEnd ?? this.#elapsed) + ms;
    });
  }

  now(): number {
    return Math.floor(this.#start + this.monotonic());
  }

  monotonic(): number {
    const elapsed = this.#elapsed + (this.#machine.monotonic() - this.#since) * this.#rate;
    return Math.min(elapsed, this.#jumpEnd ?? elapsed);
  }

  after(ms: number, task: () => void, options: TimerOptions = {}): Timer {
    const waiting: Waiting = { due: this.monotonic() + Math.max(0, ms), task, options };
    if (waiting.due !== Number.POSITIVE_INFINITY) {
      this.#waiting.add(waiting);
      this.#set(waiting);
    }
    return {
      cancel: () => {
        this.#waiting.delete(waiting);
        waiting.timer?.cancel();
      },
    };
  }

  post(task: () => void, label?: string): void {
    this.#machine.post(task, label);
  }

  get #rate(): number {
    return this.#jumpEnd === undefined ? this.#speed : Math.max(JUMP_SPEED, this.#speed);
  }

  /** Sets all timers again, the earliest first, so that timers of the same time keep their order. */
  #change(make: () => void): void {
    this.#elapsed = this.monotonic();
    this.#since = this.#machine.monotonic();
    make();
    this.#arrival?.cancel();
    for (const waiting of [...this.#waiting].sort((a, b) => a.due - b.due)) this.#set(waiting);
    if (this.#jumpEnd !== undefined) {
      const arrive = () => {
        this.#jumpEnd = undefined;
      };
      const left = (this.#jumpEnd - this.#elapsed) / this.#rate;
      this.#arrival = this.#machine.after(left, () => this.#change(arrive), { label: "jump" });
    }
    this.changed?.();
  }

  #set(waiting: Waiting): void {
    waiting.timer?.cancel();
    waiting.timer = undefined;
    const left = Math.max(0, waiting.due - this.monotonic());
    if (left > 0 && this.#rate === 0) return;
    const fire = () => {
      this.#waiting.delete(waiting);
      waiting.task();
    };
    waiting.timer = this.#machine.after(left === 0 ? 0 : left / this.#rate, fire, waiting.options);
  }
}

function checked(speed: number): number {
  if (!(speed >= 0) || !Number.isFinite(speed)) throw new RangeError(`a speed is a number from 0 on, not ${speed}`);
  return speed;
}
