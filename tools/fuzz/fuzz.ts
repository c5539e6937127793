import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { Bystander } from "./bystander.ts";
import { connectionOf, play } from "./connections.ts";
import { Crowd } from "./crowd.ts";
import { isFailure, isSuspicious, isTimed, isTooExpensive } from "./invariants.ts";
import { measured, runLimits } from "./limit-run.ts";
import { type FuzzRequest, requestOf } from "./requests.ts";
import { type Answer, type Endpoint, Sender } from "./send.ts";
import { ServerProcess } from "./server-process.ts";
import { setUp } from "./set-up.ts";
import { requestText, shrink } from "./shrink.ts";

export interface FuzzOptions {
  readonly seconds: number;
  readonly seed: number;
}

export interface FuzzResult {
  readonly numbers: Record<string, string>;
  readonly checks: readonly { what: string; problems: readonly string[] }[];
}

const WORKERS = 12;
/** The part of a run in which requests at the limits are sent, one at a time, before a crowd. */
const AT_LIMITS = 0.4;
/** Of the slow ones. */
const MOST_MEASURED = 20;
/** What a bystander writes. */
const WRITE = {
  method: "PUT",
  path: "/api/v1/namespaces/fuzz-steady/configmaps/bystander",
  body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "bystander" }, data: { key: "value" } },
};
/** Every Nth is a connection with something other than a request on it. */
const CONNECTIONS = 12;
const UNREAD_AT_A_TIME = 40;
/** Failures that are shrunk: the first of each kind of answer. */
const MOST_SHRUNK = 8;
const MEBIBYTE = 1024 * 1024;
/** What may be kept of a run: objects, and the history of their changes, which is bounded. */
const MEMORY_GROWTH = 400 * MEBIBYTE;
/** How long that may take: clients that vanished are found after two minutes. */
const MEMORY_PATIENCE_MS = 180_000;
const STOP_MS = 20_000;

/** Runs hostile clients against `konverge up`, and reports what they have brought about. */
export async function fuzz(options: FuzzOptions): Promise<FuzzResult> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "konverge-fuzz-")));
  const server = new ServerProcess(folder);
  try {
    const endpoint = await server.ready();
    return await new Run(server, endpoint, options).run();
  } finally {
    await server.stop(STOP_MS);
    rmSync(folder, { recursive: true, force: true });
  }
}

class Run {
  readonly #server: ServerProcess;
  readonly #endpoint: Endpoint;
  readonly #options: FuzzOptions;
  readonly #statuses = new Map<string, number>();
  readonly #unread: TLSSocket[] = [];
  readonly #slow: { request: FuzzRequest; answer: Answer }[] = [];
  readonly #failed = new Map<string, { request: FuzzRequest; answer: Answer; number: number; times: number }>();
  readonly #broken: string[] = [];
  readonly #brokenConnections: string[] = [];
  #next = 0;
  #requests = 0;
  #connections = 0;
  #peak = 0;
  #slowest: { perByte: number; what: string } = { perByte: 0, what: "" };
  #longest: { ms: number; what: string } = { ms: 0, what: "" };

  constructor(server: ServerProcess, endpoint: Endpoint, options: FuzzOptions) {
    this.#server = server;
    this.#endpoint = endpoint;
    this.#options = options;
  }

  async run(): Promise<FuzzResult> {
    const sender = new Sender(this.#endpoint);
    await setUp(sender);
    const before = await this.#server.ask("memory now and after a collection", "memory");
    const { cert: _cert, key: _key, ...anonymous } = this.#endpoint;
    const bystanders = [
      new Bystander("an anonymous client that asks for /healthz", anonymous, { method: "GET", path: "/healthz" }),
      new Bystander("an administrator that writes", this.#endpoint, WRITE),
    ];
    const crowd = new Crowd(anonymous);
    await crowd.gather();
    const began = performance.now();
    const until = began + this.#options.seconds * 1000;
    const watch = this.#watchMemory(until);
    const atLimits = await runLimits(this.#server, this.#endpoint, {
      seed: this.#options.seed,
      until: began + this.#options.seconds * 1000 * AT_LIMITS,
    });
    crowd.leave();
    await Promise.all(Array.from({ length: WORKERS }, () => this.#work(until)));
    await watch;
    for (const socket of this.#unread) socket.destroy();
    const problems500 = await this.#shrunk(sender);
    const problemsSlow = await this.#confirmedSlow(sender);
    const after = await this.#memoryOnceBack((before?.used ?? 0) + MEMORY_GROWTH);
    const machine = await this.#server.ask("machine", "machine");
    const unanswered = (await Promise.all(bystanders.map((one) => one.stop()))).flat();
    sender.close();
    const ended = await this.#server.stop(STOP_MS);
    const grown = (after?.used ?? Number.POSITIVE_INFINITY) - (before?.used ?? 0);
    return {
      numbers: {
        requests: String(this.#requests),
        "hostile connections": String(this.#connections),
        ...Object.fromEntries(
          [...this.#statuses].sort().map(([status, count]) => [`answers ${status}`, String(count)]),
        ),
        "longest answer": `${this.#longest.ms.toFixed(0)} ms (${this.#longest.what})`,
        "slowest per byte": `${this.#slowest.perByte.toFixed(1)} µs (${this.#slowest.what})`,
        "requests at the limits": String(atLimits.sent),
        "most CPU for one of them": atLimits.most,
        crowd: crowd.summary,
        ...Object.fromEntries(bystanders.map(({ name, summary }) => [name, summary])),
        "peak memory": `${Math.round(this.#peak / MEBIBYTE)} MiB`,
        "memory used before and after": `${Math.round((before?.used ?? 0) / MEBIBYTE)} and ${Math.round((after?.used ?? 0) / MEBIBYTE)} MiB`,
      },
      checks: [
        {
          what: "no answer is 500",
          problems: [...problems500, ...atLimits.failures, ...this.#brokenConnections, ...this.#log(problems500)],
        },
        {
          what: "no request takes more CPU than its size explains",
          problems: [...atLimits.expensive, ...problemsSlow],
        },
        { what: "bystanders are answered throughout", problems: [...unanswered, ...this.#broken] },
        { what: "nothing is left unhandled in the server", problems: this.#server.uncaught },
        {
          what: "nothing outside its data folder and its home is written, no program started",
          problems: machine
            ? [...machine.writes, ...machine.processes.map((one) => `started ${one}`)]
            : ["the server is gone"],
        },
        {
          what: "memory comes back",
          problems: grown < MEMORY_GROWTH ? [] : [`${Math.round(grown / MEBIBYTE)} MiB more are used than before`],
        },
        {
          what: "the server ends when it is told to",
          problems: ended === "code 0" ? [] : [`it ended with ${ended ?? "SIGKILL"}`],
        },
      ],
    };
  }

  /** What the server wrote to its log, if something failed. */
  #log(problems: readonly string[]): string[] {
    return problems.length > 0 ? [`the server's log begins with: ${this.#server.errorOutput.slice(0, 2000)}`] : [];
  }

  async #work(until: number): Promise<void> {
    const sender = new Sender(this.#endpoint);
    while (performance.now() < until && this.#server.exit === undefined) {
      const number = this.#next++;
      try {
        if (number % CONNECTIONS === 0) await this.#connect(number);
        else await this.#request(sender, number);
      } catch (error) {
        this.#broken.push(`number ${number}: ${(error as Error).message}`);
      }
    }
    sender.close();
  }

  async #connect(number: number): Promise<void> {
    const connection = connectionOf(this.#options.seed, number);
    const { statuses, text, open } = await play(connection, this.#endpoint);
    this.#connections++;
    if (open) {
      this.#unread.push(open);
      if (this.#unread.length > UNREAD_AT_A_TIME) this.#unread.shift()!.destroy();
    }
    for (const status of statuses) {
      this.#count(status);
      if (status === 500) this.#brokenConnections.push(`number ${number}, ${connection.what}: ${text.slice(-300)}`);
    }
  }

  async #request(sender: Sender, number: number): Promise<void> {
    const request = requestOf(this.#options.seed, number);
    const answer = await sender.send(request);
    this.#requests++;
    this.#count(answer.status);
    if (isTimed(request, answer)) this.#measure(request, answer);
    if (isFailure(answer)) {
      const kind = answer.text.replaceAll(/[0-9]+|"[^"]{30,}"/g, "…").slice(0, 150);
      const known = this.#failed.get(kind);
      if (known) known.times++;
      else this.#failed.set(kind, { request, answer, number, times: 1 });
    }
    if (isSuspicious(request, answer)) this.#slow.push({ request, answer });
  }

  #count(status: number): void {
    const group = status === 0 ? "none" : `${Math.floor(status / 100)}xx`;
    this.#statuses.set(group, (this.#statuses.get(group) ?? 0) + 1);
  }

  #measure({ method, target, body }: FuzzRequest, { ms, bytes, status }: Answer): void {
    const what = `${method} ${target.slice(0, 100)}, ${body.length} bytes, answered ${status} with ${bytes}`;
    const perByte = (ms * 1000) / (1000 + body.length + bytes);
    if (perByte > this.#slowest.perByte) this.#slowest = { perByte, what };
    if (ms > this.#longest.ms) this.#longest = { ms, what };
  }

  async #watchMemory(until: number): Promise<void> {
    while (performance.now() < until && this.#server.exit === undefined) {
      const memory = await this.#server.ask("memory", "memory");
      this.#peak = Math.max(this.#peak, memory?.rss ?? 0);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }

  /** The memory that is used, as soon as it is below a limit; in the end, whatever it is. */
  async #memoryOnceBack(limit: number) {
    const until = performance.now() + MEMORY_PATIENCE_MS;
    for (;;) {
      const memory = await this.#server.ask("memory now and after a collection", "memory");
      if (!memory || memory.used < limit || performance.now() > until) return memory;
      await new Promise((resolve) => setTimeout(resolve, 5000));
    }
  }

  async #shrunk(sender: Sender): Promise<string[]> {
    const problems: string[] = [];
    for (const [, { request, answer, number, times }] of [...this.#failed].slice(0, 50)) {
      const fails = async (candidate: FuzzRequest) => isFailure(await sender.send(candidate));
      const again = problems.length < MOST_SHRUNK && this.#server.exit === undefined && (await fails(request));
      const smallest = again ? await shrink(request, fails) : request;
      const note = again ? "" : " (as it was sent; not shrunk)";
      problems.push(`number ${number}, ${times} times: ${answer.text.slice(0, 500)}\n${requestText(smallest)}${note}`);
    }
    return problems;
  }

  /** Another program may have had the processor: what counts is what a slow request costs alone. */
  async #confirmedSlow(sender: Sender): Promise<string[]> {
    const problems: string[] = [];
    const slowest = this.#slow.toSorted((a, b) => b.answer.ms - a.answer.ms).slice(0, MOST_MEASURED);
    for (const { request, answer } of slowest) {
      if (this.#server.exit !== undefined) break;
      const again = await measured(this.#server, sender, { request });
      if (!isTooExpensive(request, again.answer, again.cpu)) continue;
      problems.push(
        `${again.cpu.toFixed(0)} ms of CPU, ${answer.ms.toFixed(0)} ms among others, for ${again.answer.bytes} bytes\n${requestText(request)}`,
      );
    }
    return problems;
  }
}
