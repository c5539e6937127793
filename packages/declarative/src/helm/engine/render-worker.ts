/**
 * The thread in which templates are rendered, so that one without an end can be ended. It waits for requests, and ends when none has
 * come for a while: an idle operator does not keep the engine in memory.
 */
import { readFileSync } from "node:fs";
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { gunzipSync } from "node:zlib";
import { withMaximumMemory } from "./bounded-memory.ts";
import { ENDED, IDLE, type Job, type Reply, type WorkerSettings } from "./render-thread.ts";
import { type Instantiate, runInSandbox } from "./sandbox.ts";

declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => ReturnType<Instantiate>;
};

const { state, port, engine, pages, idleMs } = workerData as WorkerSettings;
const module = new WebAssembly.Module(withMaximumMemory(gunzipSync(readFileSync(engine)), pages));

function work(): void {
  while (true) {
    Atomics.wait(state, 0, IDLE, idleMs);
    if (Atomics.compareExchange(state, 0, IDLE, ENDED) === IDLE) return;
    const job = receiveMessageOnPort(port)?.message as Job;
    port.postMessage(reply(job));
    Atomics.store(state, 0, IDLE);
    Atomics.notify(state, 0);
  }
}

function reply({ input, now, seed }: Job): Reply {
  try {
    return runInSandbox((imports) => new WebAssembly.Instance(module, imports), { input, now, seed });
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

work();
port.close();
parentPort?.close();
