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

/** What is wrong with the engine is the reply to each job. */
function compiled(): object | Error {
  try {
    return new WebAssembly.Module(withMaximumMemory(gunzipSync(readFileSync(engine)), pages));
  } catch (error) {
    return new Error(`${engine} cannot be loaded: ${(error as Error).message}`);
  }
}

function work(module: object | Error): void {
  Atomics.store(state, 0, IDLE);
  Atomics.notify(state, 0);
  while (true) {
    Atomics.wait(state, 0, IDLE, idleMs);
    if (Atomics.compareExchange(state, 0, IDLE, ENDED) === IDLE) return;
    const job = receiveMessageOnPort(port)?.message as Job;
    port.postMessage(reply(module, job));
    Atomics.store(state, 0, IDLE);
    Atomics.notify(state, 0);
  }
}

function reply(module: object | Error, { input, now, seed }: Job): Reply {
  try {
    if (module instanceof Error) throw module;
    return runInSandbox((imports) => new WebAssembly.Instance(module, imports), { input, now, seed });
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

work(compiled());
port.close();
parentPort?.close();
