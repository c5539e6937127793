import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import { renderWorker } from "../../packaged-files.ts";
import type { SandboxInput, SandboxOutput } from "./sandbox.ts";

/** The states of the thread, in the first number of its shared memory. */
export const [IDLE, RENDERING, ENDED, STARTING] = [0, 1, 2, 3] as const;

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
  /** Of CPU; on the clock, six times as much. Default: 5 seconds. */
  readonly timeMs?: number;
  /** Default: 512 MiB. */
  readonly memoryBytes?: number;
}

interface Thread {
  readonly worker: Worker;
  readonly state: Int32Array;
  readonly port: MessagePort;
}

const PAGE = 65_536;
const IDLE_MS = 30_000;
/** How often it is measured how much CPU a template has used. */
const SLICE_MS = 100;
/** How much longer than its CPU time something may take on a machine that is busy with other things. */
const BUSY_MACHINE = 6;

/**
 * Runs the engine in a thread, and waits for the result: a reconcile that renders is one step, in virtual time as well. The rest of
 * the process waits meanwhile, which is why the time is limited.
 */
export class RenderThread {
  readonly #engine: string;
  readonly #timeMs: number;
  readonly #pages: number;
  #thread: Thread | undefined;

  constructor(engine: string, { timeMs = 5_000, memoryBytes = 512 * 2 ** 20 }: RenderLimits = {}) {
    this.#engine = engine;
    this.#timeMs = timeMs;
    this.#pages = Math.floor(memoryBytes / PAGE);
  }

  /** Throws if the engine fails, or does not end in time. */
  run(job: Job): SandboxOutput {
    const thread = this.#begun(job);
    if (!this.#finishes(thread)) {
      this.#end(thread);
      throw new Error(
        `rendering takes longer than ${this.#timeMs / 1000} s and was ended: look for a loop or a recursion without an end`,
      );
    }
    const reply = receiveMessageOnPort(thread.port)?.message as Reply;
    if ("error" in reply) throw new Error(reply.error);
    return reply;
  }

  /** While the rest of the process waits, its CPU time is that of the thread. */
  #finishes({ state }: Thread): boolean {
    const before = process.cpuUsage();
    for (let waited = 0; waited < this.#timeMs * BUSY_MACHINE; waited += SLICE_MS) {
      if (Atomics.wait(state, 0, RENDERING, SLICE_MS) !== "timed-out") return true;
      const { user, system } = process.cpuUsage(before);
      if ((user + system) / 1000 > this.#timeMs) return false;
    }
    return false;
  }

  /** The thread, which has the job. */
  #begun(job: Job): Thread {
    if (this.#thread) {
      this.#thread.port.postMessage(job);
      if (handOver(this.#thread.state)) return this.#thread;
    }
    const started = this.#start();
    this.#thread = started;
    if (Atomics.wait(started.state, 0, STARTING, START_MS) === "timed-out") {
      this.#end(started);
      throw new Error(`Helm's engine has not started within ${START_MS / 1000} s`);
    }
    started.port.postMessage(job);
    handOver(started.state);
    return started;
  }

  #end({ worker }: Thread): void {
    void worker.terminate();
    this.#thread = undefined;
  }

  #start(): Thread {
    const state = new Int32Array(new SharedArrayBuffer(4));
    state[0] = STARTING;
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

/** A thread that starts compiles the engine. */
const START_MS = 60_000;

/** False if the thread has ended before. */
function handOver(state: Int32Array): boolean {
  if (Atomics.compareExchange(state, 0, IDLE, RENDERING) === ENDED) return false;
  Atomics.notify(state, 0);
  return true;
}
