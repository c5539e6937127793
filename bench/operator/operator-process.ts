import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { isRunnable, type Usage, usageOf } from "../harness/processes.ts";
import type { Program } from "./konverge-program.ts";

/** Milliseconds without work after which an operator counts as idle, and how much it may use in them. */
const IDLE = { ms: 1000, cpuSeconds: 0.02 };
const PATIENCE = 900_000;

/** An operator at work. */
export class OperatorProcess implements AsyncDisposable {
  readonly startedAt = performance.now();
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #notStarted: Error | undefined;

  constructor({ command: [file, ...first], env }: Program, kubeconfig: string, more: readonly string[] = []) {
    this.#child = spawn(file!, [...first, ...more], {
      env: { PATH: process.env["PATH"], HOME: process.env["HOME"], KUBECONFIG: kubeconfig, ...env },
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#child.stdout!.resume();
    this.#ended = new Promise((resolve) => {
      this.#child.once("exit", () => resolve());
      this.#child.once("error", (error) => {
        this.#notStarted = error;
        resolve();
      });
    });
  }

  /** Throws if it has ended. */
  check(): void {
    if (this.#notStarted) throw this.#notStarted;
    const { exitCode, signalCode } = this.#child;
    if (exitCode !== null || signalCode !== null) throw new Error(`the operator ended with ${exitCode ?? signalCode}`);
  }

  /** Ends it as a crash would. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
  }

  usage(): Usage {
    this.check();
    return usageOf([this.#child.pid!]);
  }

  /** Resolves when it says something. */
  async says(): Promise<void> {
    const said = new Promise<void>((resolve) => this.#child.stdout!.once("data", () => resolve()));
    const stop = new AbortController();
    const late = sleep(PATIENCE, undefined, { signal: stop.signal }).then(
      () => Promise.reject(new Error(`the operator printed nothing for ${PATIENCE / 1000} s`)),
      () => {},
    );
    try {
      await Promise.race([said, late, this.#ended.then(() => this.check())]);
    } finally {
      stop.abort();
    }
  }

  /** Resolves when it has nothing to do any more, to the milliseconds from its start until then. */
  async idle(): Promise<number> {
    let { cpuSeconds } = this.usage();
    let since = performance.now();
    const deadline = since + PATIENCE;
    for (;;) {
      await sleep(20);
      const now = this.usage().cpuSeconds;
      if (now - cpuSeconds > IDLE.cpuSeconds) {
        cpuSeconds = now;
        since = performance.now();
      } else if (performance.now() - since > IDLE.ms) {
        // On a busy machine, a process that has used nothing may only have had no core.
        if (!isRunnable(this.#child.pid!)) return since - this.startedAt;
        since = performance.now();
      }
      if (performance.now() > deadline) throw new Error(`the operator was not idle after ${PATIENCE / 1000} s`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGTERM");
    const late = setTimeout(() => this.#child.kill("SIGKILL"), 30_000);
    await this.#ended;
    clearTimeout(late);
  }
}
