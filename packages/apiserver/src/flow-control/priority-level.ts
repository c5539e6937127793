import { createHash } from "node:crypto";
import type { Clock, Timer } from "@konverge/core";

/** How many requests of a level are answered at a time, and what becomes of the others. */
export interface LevelLimits {
  readonly seats: number;
  /** Without it, what finds no seat is refused at once. */
  readonly queuing?: { readonly queues: number; readonly handSize: number; readonly queueLengthLimit: number };
}

interface Waiting {
  readonly start: (mayRun: boolean) => void;
  readonly timer: Timer;
}

/** Why a request got no seat, as metrics name it. */
export type Refusal = "concurrency-limit" | "queue-full" | "time-out";

/** Milliseconds that a request waits for a seat: a quarter of the time it may take. */
const PATIENCE = 15_000;

/**
 * The seats of one priority level. Flows share queues by shuffle sharding: each has a hand of them, dealt by its hash, and
 * takes the shortest, so that one flow with many requests leaves the others some queue without it. Queues take turns.
 */
export class PriorityLevel {
  readonly #clock: Clock;
  #limits: LevelLimits;
  #running = 0;
  #queues: Waiting[][] = [];
  #next = 0;

  constructor(clock: Clock, limits: LevelLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Those that wait already keep their places, but not beyond the new number of queues. */
  set limits(limits: LevelLimits) {
    this.#limits = limits;
    this.#dispatch();
  }

  /** Resolves to a function that gives the seat back; when there is none in time, to the reason. */
  async seat(flow: string): Promise<(() => void) | Refusal> {
    if (this.#running < this.#limits.seats && !this.#isAnyWaiting()) return this.#take();
    const { queuing } = this.#limits;
    if (!queuing) return "concurrency-limit";
    const queue = this.#shortest(flow, queuing.queues, queuing.handSize);
    if (queue.length >= queuing.queueLengthLimit) return "queue-full";
    const mayRun = await new Promise<boolean>((start) => {
      const waiting: Waiting = {
        start,
        timer: this.#clock.after(
          PATIENCE,
          () => {
            queue.splice(queue.indexOf(waiting), 1);
            start(false);
          },
          { label: "priority level" },
        ),
      };
      queue.push(waiting);
    });
    return mayRun ? this.#released() : "time-out";
  }

  #take(): () => void {
    this.#running++;
    return this.#released();
  }

  #released(): () => void {
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#running--;
      this.#dispatch();
    };
  }

  #dispatch(): void {
    while (this.#running < this.#limits.seats && this.#isAnyWaiting()) {
      const queue = this.#queues[this.#next++ % this.#queues.length];
      const waiting = queue?.shift();
      if (!waiting) continue;
      waiting.timer.cancel();
      this.#running++;
      waiting.start(true);
    }
  }

  #isAnyWaiting(): boolean {
    return this.#queues.some((queue) => queue !== undefined && queue.length > 0);
  }

  #shortest(flow: string, queues: number, handSize: number): Waiting[] {
    let best: Waiting[] | undefined;
    for (const card of dealtHand(flow, queues, handSize)) {
      this.#queues[card] ??= [];
      const queue = this.#queues[card];
      if (!best || queue.length < best.length) best = queue;
    }
    return best!;
  }
}

/** The queues of a flow: different ones, chosen by its hash. */
export function dealtHand(flow: string, queues: number, handSize: number): number[] {
  let hash = createHash("sha256").update(flow).digest().readBigUInt64LE(0);
  const hand: number[] = [];
  for (let i = 0; i < handSize; i++) {
    const left = BigInt(queues - i);
    let card = Number(hash % left);
    hash /= left;
    // Counted among the cards that are still there.
    for (const dealt of hand.toSorted((a, b) => a - b)) if (card >= dealt) card++;
    hand.push(card);
  }
  return hand;
}
