import type { Clock } from "@konverge/core";
import { CpuTime } from "./cpu-time.ts";
import { ContainerMemory, MemoryPool } from "./memory.ts";
import { Processor } from "./processor.ts";
import { Disk } from "./storage.ts";

/** What a container may use, and what it has used. */
export interface ContainerLimits {
  readonly cpu: CpuTime;
  readonly memory: ContainerMemory;
}

/**
 * The share of this process that the interpreted containers of a cluster have: its thread, its memory, and the memory in
 * which their files live. Whatever they do, the API server beside them keeps running.
 */
export class Machine {
  readonly disk = new Disk();
  readonly #clock: Clock;
  readonly #memory = new MemoryPool();
  readonly #processor: Processor;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#processor = new Processor(clock);
  }

  /** The limits of a container. `outOfMemory` is called when it is killed for lack of memory. */
  container(outOfMemory: () => void): ContainerLimits {
    const cpu = new CpuTime(this.#clock, this.#processor);
    return { cpu, memory: new ContainerMemory(this.#memory, outOfMemory) };
  }
}
