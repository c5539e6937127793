import { Agent, request } from "node:https";
import type { Endpoint } from "./send.ts";

const PERIOD_MS = 100;
const BOUND_MS = 10_000;

/** Asks for the server's health all the time, through connections of its own. */
export class HealthProbe {
  readonly #agent: Agent;
  readonly #endpoint: Endpoint;
  readonly #problems: string[] = [];
  readonly #running: Promise<void>;
  #stopped = false;
  answers = 0;
  slowest = 0;

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
    this.#agent = new Agent({ keepAlive: true, ca: endpoint.ca, cert: endpoint.cert, key: endpoint.key });
    this.#running = this.#run();
  }

  /** Asks once more; gives what went wrong. */
  async stop(): Promise<readonly string[]> {
    this.#stopped = true;
    await this.#running;
    await this.#probe();
    this.#agent.destroy();
    return this.#problems;
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      await this.#probe();
      await new Promise((resolve) => setTimeout(resolve, PERIOD_MS));
    }
  }

  async #probe(): Promise<void> {
    const began = performance.now();
    const problem = await new Promise<string | undefined>((resolve) => {
      const asked = request(
        new URL("/healthz", this.#endpoint.url),
        { agent: this.#agent, timeout: BOUND_MS },
        (answer) => {
          answer
            .resume()
            .on("end", () => resolve(answer.statusCode === 200 ? undefined : `answered ${answer.statusCode}`));
        },
      );
      asked.on("timeout", () => asked.destroy(new Error(`no answer within ${BOUND_MS} ms`)));
      asked.on("error", (error) => resolve(error.message)).end();
    });
    const ms = performance.now() - began;
    this.answers++;
    this.slowest = Math.max(this.slowest, ms);
    if (problem !== undefined && this.#problems.length < 10) this.#problems.push(problem);
    else if (ms > BOUND_MS) this.#problems.push(`answered after ${ms.toFixed(0)} ms`);
  }
}
