import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import { renderWorker } from "../../packaged-files.ts";
import type { SandboxInput, SandboxOutput } from "./sandbox.ts";

/** The states of the thread, in the first number of its shared memory. */
export const [IDLE, RENDERING, ENDED] = [0, 1, 2] as const;

/** What the thread is started with. */
export interface WorkerSettings {
  readonly state: Int32Array;
  readonly port: MessagePort;
  /** The compressed module. */
  readonly engine: string;
  /** The most that its memory grows to, in pages of 64 KiB. */
  readonly pages: number;
  /** It ends when it has had nothing to do for so long. */
  readonly idleMs: number;
}

export type Job = SandboxInput;
export type Reply = SandboxOutput | { readonly error: string };

/** Limits of one run. */
export interface RenderLimits {
  /** Default: 5 seconds, a third of the time in which a leader has to renew its lease. */
  readonly timeMs?: number;
  /** Default: 512 MiB. */
  readonly memoryBytes?: number;
}

const PAGE = 65_536;
const IDLE_MS = 30_000;

/**
 * Runs the engine in a thread, and waits for the result: a reconcile that renders is one step, in virtual time as well. The rest of
 * the process waits meanwhile, which is why the time is limited.
 */
export class RenderThread {
  readonly #engine: string;
  readonly #timeMs: number;
  readonly #pages: number;
  #thread: { worker: Worker; state: Int32Array; port: MessagePort } | undefined;

  constructor(engine: string, { timeMs = 5_000, memoryBytes = 512 * 2 ** 20 }: RenderLimits = {}) {
    this.#engine = engine;
    this.#timeMs = timeMs;
    this.#pages = Math.floor(memoryBytes / PAGE);
  }

  /** Throws if the engine fails, or does not end in time. */
  run(job: Job): SandboxOutput {
    const thread = this.#begun(job);
    if (Atomics.wait(thread.state, 0, RENDERING, this.#timeMs + (thread.isNew ? START_MS : 0)) === "timed-out") {
      void thread.worker.terminate();
      this.#thread = undefined;
      throw new Error(
        `rendering takes longer than ${this.#timeMs / 1000} s and was ended: look for a loop or a recursion without an end`,
      );
    }
    const reply = receiveMessageOnPort(thread.port)?.message as Reply;
    if ("error" in reply) throw new Error(reply.error);
    return reply;
  }

  /** The thread, which has the job. */
  #begun(job: Job) {
    if (this.#thread) {
      this.#thread.port.postMessage(job);
      if (handOver(this.#thread.state)) return { ...this.#thread, isNew: false };
    }
    const started = this.#start();
    this.#thread = started;
    started.port.postMessage(job);
    handOver(started.state);
    return { ...started, isNew: true };
  }

  #start() {
    const state = new Int32Array(new SharedArrayBuffer(4));
    const { port1: port, port2 } = new MessageChannel();
    const workerData: WorkerSettings = {
      state,
      port: port2,
      engine: this.#engine,
      pages: this.#pages,
      idleMs: IDLE_MS,
    };
    const worker = new Worker(renderWorker(), {
      workerData,
      transferList: [port2],
      env: {},
      execArgv: [],
    });
    worker.unref();
    port.unref();
    return { worker, state, port };
  }
}

/** A new thread first compiles the engine. */
const START_MS = 20_000;

/** False if the thread has ended before. */
function handOver(state: Int32Array): boolean {
  if (Atomics.compareExchange(state, 0, IDLE, RENDERING) === ENDED) return false;
  Atomics.notify(state, 0);
  return true;
}
