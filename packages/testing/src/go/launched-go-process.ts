import type { CallWebhook } from "@konverge/apiserver";
import { Client } from "@konverge/client";
import { type ApiRequest, type ApiResponse, seededRandom, sleep, type Transport } from "@konverge/core";
import { ProcessExit } from "../environment/process-exit.ts";
import type { LaunchedProcess, LaunchOptions } from "../environment/runnable-operator.ts";
import { type GoExit, GoProcess } from "./go-process.ts";
import type { GoProgramOptions } from "./go-program-options.ts";
import type { GoSnapshot } from "./go-snapshot.ts";
import { clusterEnvironment, clusterFiles, isApiServer } from "./in-cluster-files.ts";
import { MemoryFiles } from "./memory-files.ts";

/** A process works when it has requested nothing new for this long, in milliseconds. */
const STARTED_AFTER = 2_000;
/** A process that still makes requests after this long works, too. */
const LONGEST_START = 60_000;
/** The lines that are kept of what a process prints: a panic has its stack in them. */
const KEPT_LINES = 200;

/** How long a process has to end after SIGTERM, in milliseconds: the grace period of pods. */
const GRACE = 30_000;
/** Where controller-runtime serves webhooks. */
const WEBHOOK_PORT = 9443;

/** Where a process finds the snapshot of another one with the same start, or leaves its own. */
export interface SnapshotShelf {
  readonly known: GoSnapshot | undefined;
  readonly wanted: boolean;
  keep(snapshot: GoSnapshot | undefined): void;
}

/** A process of a Go program, as a test environment has it. */
export class LaunchedGoProcess implements LaunchedProcess {
  readonly client: Client;
  /** It registers its webhooks itself. */
  readonly webhooks = undefined;
  readonly #program: GoProgramOptions;
  readonly #options: LaunchOptions;
  readonly #shelf: SnapshotShelf;
  readonly #process: GoProcess;
  readonly #lines: string[] = [];
  readonly #exit = Promise.withResolvers<never>();
  readonly #stopped = Promise.withResolvers<void>();
  #isStarting = true;
  #isStopping = false;
  #pending = 0;
  #lastRequest: number;

  constructor(program: GoProgramOptions, options: LaunchOptions, shelf: SnapshotShelf) {
    const { transport, clock, home, number, replica, seed } = options;
    this.#program = program;
    this.#options = options;
    this.#shelf = shelf;
    this.#lastRequest = clock.monotonic();
    this.client = new Client(transport, { clock, namespace: home, userAgent: program.name });
    this.#exit.promise.catch(() => {});
    const now = () => clock.now();
    const reached = this.#counted(transport);
    this.#process = new GoProcess({
      module: program.module,
      args: [program.name, ...(program.args ?? [])],
      env: { ...clusterEnvironment(home, `${program.name}-${replica}-${number}`), ...program.env, ...options.settings },
      files: shelf.known?.files.copy(now) ?? new MemoryFiles(now, { ...clusterFiles(home), ...program.files }),
      clock,
      random: seededRandom(seed * 1_000_003 + replica * 10_007 + number * 101 + nameNumber(program.name)),
      reach: (host) => (isApiServer(host) ? reached : undefined),
      printed: (line) => {
        this.#lines.push(line);
        if (this.#lines.length > KEPT_LINES) this.#lines.shift();
        program.printed?.(line, number);
      },
      ended: (exit) => this.#ended(exit),
    });
  }

  async start(): Promise<void> {
    const { known, wanted, keep } = this.#shelf;
    if (known) {
      this.#process.resume(known);
      // What follows happens as long after the start as it would without the snapshot.
      await sleep(this.#options.clock, known.elapsed);
    } else {
      this.#process.start();
      if (wanted) keep(this.#process.snapshot());
    }
    this.#process.release();
    await Promise.race([this.#idle(), this.#exit.promise]);
    this.#isStarting = false;
  }

  /** As a pod is deleted: with SIGTERM, and killed if it does not end in time. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    if (this.#process.terminate()) {
      await Promise.race([this.#stopped.promise, sleep(this.#options.clock, GRACE)]);
    }
    this.#process.kill();
  }

  /** Calls a webhook that the program serves, as an API server does: over TLS, with the authorities of its configuration. */
  readonly answer: CallWebhook = async ({ service, caBundle = "" }, review, { timeoutMs }) => {
    const { name = "", namespace = "", port = 443, path = "/" } = service ?? {};
    const host = `${name}.${namespace}.svc:${port}`;
    const response = await this.#process.post({
      port: this.#program.webhookPort ?? WEBHOOK_PORT,
      host,
      roots: Buffer.from(caBundle, "base64").toString(),
      path: `${path}?timeout=${timeoutMs / 1000}s`,
      body: JSON.stringify(review),
      timeoutMs,
    });
    if (response.status !== 200) throw new Error(`the server answered ${response.status}: ${response.body}`);
    return JSON.parse(response.body);
  };

  kill(): void {
    this.#process.kill();
  }

  async metrics(): Promise<string> {
    return "";
  }

  async #idle(): Promise<void> {
    const { clock } = this.#options;
    const begun = clock.monotonic();
    for (;;) {
      const now = clock.monotonic();
      if ((this.#pending === 0 && now - this.#lastRequest >= STARTED_AFTER) || now - begun > LONGEST_START) return;
      await sleep(clock, 100);
    }
  }

  #ended({ code, error }: GoExit): void {
    if (this.#isStopping) {
      this.#stopped.resolve();
      return;
    }
    const exit = new ProcessExit(code, [...this.#lines, ...(error === undefined ? [] : [String(error)])].join("\n"));
    if (this.#isStarting) this.#exit.reject(exit);
    else this.#options.exited(exit);
  }

  /** Notes what the process waits for. Renewals of leases never end. */
  #counted(transport: Transport): Transport {
    return async (request: ApiRequest): Promise<ApiResponse> => {
      if (request.path.includes("/leases")) return transport(request);
      this.#pending++;
      this.#lastRequest = this.#options.clock.monotonic();
      try {
        return await transport(request);
      } finally {
        this.#pending--;
      }
    };
  }
}

/** Programs with different names have different chances. */
function nameNumber(name: string): number {
  let number = 0;
  for (const letter of name) number = (number * 31 + letter.codePointAt(0)!) % 1_000_003;
  return number;
}
