import { type Clock, type Random, sleep } from "@konverge/core";
import type { History } from "./history.ts";
import type { Relay } from "./relay.ts";
import type { Target } from "./target.ts";

/** Injects faults, one after the other, and counts them. */
export class Faults {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #history: History;
  readonly #target: Target;
  readonly #relay: Relay;
  readonly counts = { kills: 0, stops: 0, "slow periods": 0, stalls: 0, "full disks": 0, compactions: 0 };
  /** Resolves when the server runs. */
  up: Promise<void> = Promise.resolve();

  constructor(clock: Clock, random: Random, history: History, target: Target, relay: Relay) {
    this.#clock = clock;
    this.#random = random;
    this.#history = history;
    this.#target = target;
    this.#relay = relay;
  }

  /** Ends with a last kill in the middle of the writing, so that the final state is one that was read from the disk. */
  async run(ms: number): Promise<void> {
    const end = this.#clock.monotonic() + ms;
    while (this.#clock.monotonic() < end) {
      await sleep(this.#clock, 200 + this.#random.below(1_800));
      await this.#one();
    }
    await this.#restart();
  }

  #one(): Promise<void> | void {
    switch (this.#random.below(10)) {
      case 0:
      case 1:
        return this.#restart();
      case 2:
      case 3:
        return this.#stop(100 + this.#random.below(2_500));
      case 4:
        return this.#slow();
      case 5:
        return this.#stall(100 + this.#random.below(2_000));
      case 6:
        return this.#fullDisk();
      case 7:
        return this.#compact();
      default:
        return this.#relay.cut(this.#random.pick([0.1, 0.5, 1]));
    }
  }

  async #restart(): Promise<void> {
    this.counts.kills++;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.up = promise;
    // It dies between two reads of its sockets, or with requests before it.
    if (this.#random.below(2) === 0) this.#relay.stall(true);
    try {
      await this.#target.restart();
      this.#history.restarts.push(this.#clock.monotonic());
    } finally {
      this.#relay.stall(false);
      resolve();
    }
  }

  /** As a disk, or a machine, that does not answer. */
  async #stop(ms: number): Promise<void> {
    this.counts.stops++;
    const pid = this.#random.pick(this.#target.pids());
    signal(pid, "SIGSTOP");
    await sleep(this.#clock, ms);
    signal(pid, "SIGCONT");
  }

  /** A process that runs for a twentieth of the time. */
  async #slow(): Promise<void> {
    this.counts["slow periods"]++;
    const pid = this.#random.pick(this.#target.pids());
    for (let i = 0; i < 20; i++) {
      signal(pid, "SIGSTOP");
      await sleep(this.#clock, 95);
      signal(pid, "SIGCONT");
      await sleep(this.#clock, 5);
    }
  }

  async #stall(ms: number): Promise<void> {
    this.counts.stalls++;
    this.#relay.stall(true);
    await sleep(this.#clock, ms);
    this.#relay.stall(false);
  }

  async #fullDisk(): Promise<void> {
    if (!this.#target.fillDisk) return;
    this.counts["full disks"]++;
    this.#target.fillDisk(true);
    await sleep(this.#clock, 100 + this.#random.below(1_000));
    // A server that dies on a full disk has kept what it acknowledged.
    if (this.#random.below(3) === 0) await this.#restart();
    else this.#target.fillDisk(false);
  }

  async #compact(): Promise<void> {
    if (!this.#target.compact) return;
    this.counts.compactions++;
    const at = this.#clock.monotonic();
    this.#history.compactions.push({ at, revision: await this.#target.compact() });
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It ended meanwhile.
  }
}
