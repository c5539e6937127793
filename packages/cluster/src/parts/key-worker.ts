import { type Clock, isConflict, isNotFound, type ObjectKey } from "@konverge/core";
import { type Log, type QueueAddOptions, WorkQueue } from "@konverge/runtime";

export interface KeyWorkerOptions {
  clock: Clock;
  name: string;
  log: Log;
  /** How many keys are worked on at the same time. Default: 20. */
  concurrency?: number;
  /** Throws to be retried; returns the milliseconds after which the key is processed again. */
  work(key: ObjectKey): Promise<number | undefined>;
}

/**
 * Works off keys of whatever a part keeps a queue of, where that is not the objects of one kind that live: a graph of all
 * objects, or objects that are being deleted.
 */
export class KeyWorker {
  readonly #queue: WorkQueue;
  readonly #options: KeyWorkerOptions;
  #idle: (() => void) | undefined;
  #stopped = false;

  constructor(options: KeyWorkerOptions) {
    const { clock, name } = options;
    this.#options = options;
    this.#queue = new WorkQueue({ clock, name, backoff: { initial: 20, longest: 60_000 } });
    this.#queue.onReady = () => this.#take();
  }

  add(key: ObjectKey, options?: QueueAddOptions): void {
    this.#queue.add(key, options);
  }

  /** Takes on no more work, and resolves when that in progress is done. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#queue.close();
    if (this.#queue.working === 0) return;
    await new Promise<void>((resolve) => {
      this.#idle = resolve;
    });
  }

  #take(): void {
    const { clock, name, concurrency = 20 } = this.#options;
    while (!this.#stopped && this.#queue.working < concurrency) {
      const item = this.#queue.take();
      if (!item) return;
      clock.post(() => void this.#work(item.key), `${name}: ${item.key}`);
    }
  }

  async #work(key: ObjectKey): Promise<void> {
    const { work, log } = this.#options;
    try {
      const after = this.#stopped ? undefined : await work(key);
      this.#queue.done(key, { ...(after !== undefined && { after }) });
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) log.warn({ err: error, object: key }, String(error));
      this.#queue.retry(key);
    }
    if (this.#queue.working === 0) this.#idle?.();
  }
}
