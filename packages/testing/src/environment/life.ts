import { AsyncLocalStorage } from "node:async_hooks";
import type { ApiResponse, Clock, Timer, Transport } from "@konverge/core";

/**
 * The time between a simulated process's start and its death. What the process reaches the world through (its transport,
 * its clock) is handed out by its life, and goes silent with it.
 *
 * Guarantees: after {@link end}, no request leaves, no answer arrives and no timer fires. Promises that were pending never
 * settle: a rejection would run catch blocks, which a dead process cannot run. What a timer calls runs in the asynchronous context in
 * which the timer was set: whose clock it is, not who moves it on.
 */
export class Life {
  readonly #death = new AbortController();
  readonly #timers = new Set<Timer>();

  get over(): boolean {
    return this.#death.signal.aborted;
  }

  end(): void {
    this.#death.abort();
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }

  /** Calls back when it ends. */
  onEnd(task: () => void): void {
    if (this.over) task();
    else this.#death.signal.addEventListener("abort", task, { once: true });
  }

  transport(inner: Transport): Transport {
    return async (request) => {
      if (this.over) return forever();
      // The server learns that the connection is gone; the process learns nothing.
      const signal = request.signal ? AbortSignal.any([request.signal, this.#death.signal]) : this.#death.signal;
      try {
        const answer = await inner({ ...request, signal });
        if (this.over) return forever();
        return { ...answer, body: this.#body(answer.body) };
      } catch (error) {
        if (this.over) return forever();
        throw error;
      }
    };
  }

  clock(inner: Clock): Clock {
    return {
      now: () => inner.now(),
      monotonic: () => inner.monotonic(),
      random: inner.random,
      secrets: inner.secrets,
      after: (ms, task, options) => {
        if (this.over) return { cancel() {} };
        const inContext = AsyncLocalStorage.bind(task);
        const timer = inner.after(
          ms,
          () => {
            this.#timers.delete(timer);
            inContext();
          },
          options,
        );
        this.#timers.add(timer);
        return {
          cancel: () => {
            this.#timers.delete(timer);
            timer.cancel();
          },
        };
      },
      post: (task, label) => {
        const inContext = AsyncLocalStorage.bind(task);
        inner.post(() => {
          if (!this.over) inContext();
        }, label);
      },
    };
  }

  #body(body: ApiResponse["body"]): ApiResponse["body"] {
    if (typeof body === "string" || body instanceof Uint8Array) return body;
    return this.#stream(body);
  }

  async *#stream(chunks: AsyncIterable<string | Uint8Array>): AsyncGenerator<string | Uint8Array> {
    try {
      for await (const chunk of chunks) {
        if (this.over) return await forever();
        yield chunk;
      }
    } catch (error) {
      if (this.over) return await forever();
      throw error;
    }
    if (this.over) await forever();
  }
}

function forever(): Promise<never> {
  return new Promise(() => {});
}
