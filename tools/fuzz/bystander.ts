import { Agent, request } from "node:https";
import type { Endpoint } from "./send.ts";

const PERIOD_MS = 100;
/** No client waits this long for a server that is not overrun, whatever else runs on the machine. */
const BOUND_MS = 10_000;

/** What a bystander asks for. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
}

/** A well-behaved client: it sends requests all the time, through separate connections, and measures the latency. */
export class Bystander {
  readonly name: string;
  readonly #agent: Agent;
  readonly #url: string;
  readonly #asked: Asked;
  readonly #problems: string[] = [];
  readonly #running: Promise<void>;
  #stopped = false;
  #waits: number[] = [];

  /** Anonymous, if the endpoint has no certificate. */
  constructor(name: string, { url, ca, cert, key }: Endpoint, asked: Asked) {
    this.name = name;
    this.#url = url;
    this.#asked = asked;
    this.#agent = new Agent({ keepAlive: true, ca, ...(cert && { cert, key }) });
    this.#running = this.#run();
  }

  /** Sends a last request; returns the problems. */
  async stop(): Promise<readonly string[]> {
    this.#stopped = true;
    await this.#running;
    await this.#probe();
    this.#agent.destroy();
    return this.#problems.map((problem) => `${this.name}: ${problem}`);
  }

  /** Its waiting so far, for people. */
  get summary(): string {
    const sorted = this.#waits.toSorted((a, b) => a - b);
    const at = (part: number) =>
      (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0).toFixed(0);
    return `${sorted.length} answers; half within ${at(0.5)} ms, 99 % within ${at(0.99)} ms, the slowest ${at(1)} ms`;
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      await this.#probe();
      await new Promise((resolve) => setTimeout(resolve, PERIOD_MS));
    }
  }

  async #probe(): Promise<void> {
    const began = performance.now();
    const problem = await this.#ask();
    const ms = performance.now() - began;
    this.#waits.push(ms);
    if (problem !== undefined && this.#problems.length < 10) this.#problems.push(problem);
    else if (ms > BOUND_MS) this.#problems.push(`answered after ${ms.toFixed(0)} ms`);
  }

  #ask(): Promise<string | undefined> {
    const { method, path, body } = this.#asked;
    const headers = body ? { "content-type": "application/json" } : {};
    return new Promise((resolve) => {
      const asked = request(
        new URL(path, this.#url),
        { method, headers, agent: this.#agent, timeout: BOUND_MS },
        (answer) => {
          const { statusCode = 0 } = answer;
          answer.resume().on("end", () => resolve(statusCode < 300 ? undefined : `answered ${statusCode}`));
        },
      );
      asked.on("timeout", () => asked.destroy(new Error(`no answer within ${BOUND_MS} ms`)));
      asked.on("error", (error) => resolve(error.message)).end(body && JSON.stringify(body));
    });
  }
}
