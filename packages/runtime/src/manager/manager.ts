import type { Client } from "@konverge/client";
import { type Clock, sleep } from "@konverge/core";
import { Cache } from "../cache/cache.ts";
import type { Controller } from "../controller/definition.ts";
import { ControllerLoop } from "../controller/loop.ts";
import { type Log, silent } from "../log.ts";
import type { Observer } from "../observe/observer.ts";
import { sole } from "./authority.ts";

export interface ManagerOptions {
  client: Client;
  /** Default: the client's. */
  clock?: Clock;
  log?: Log;
  observer?: Observer;
  /** Only these namespaces. Default: all of them. */
  namespaces?: readonly string[];
  /** Names this process among its replicas. Default: made up. */
  identity?: string;
  /** Milliseconds that work in progress is given to finish when the manager stops. Default: 30 s. */
  grace?: number;
}

/** Controllers at work on a cluster, sharing one cache. */
export class Manager {
  readonly cache: Cache;
  readonly #clock: Clock;
  readonly #grace: number;
  readonly #loops: ControllerLoop[];
  #stopped: Promise<void> | undefined;

  constructor(controllers: readonly Controller[], options: ManagerOptions) {
    const { client, log = silent, observer = {} } = options;
    this.#clock = options.clock ?? client.clock;
    this.#grace = options.grace ?? 30_000;
    this.cache = new Cache(client, {
      onError: (kind, error, retryIn) => {
        log.warn({ kind: kind.kind, err: error, retryIn }, `the watch of ${kind.kind} failed: ${error.message}`);
        observer.watchFailed?.({ cluster: "", kind, error, retryIn });
      },
    });
    const names = new Set<string>();
    for (const { name } of controllers) {
      if (names.has(name)) throw new TypeError(`two controllers are called ${name}: give one another \`name\``);
      names.add(name);
    }
    this.#loops = controllers.map(
      (definition) =>
        new ControllerLoop(definition, {
          name: "",
          client,
          cache: this.cache,
          clock: this.#clock,
          log,
          observer,
          authority: sole,
          identity: options.identity ?? `konverge-${this.#clock.random.uuid().slice(0, 8)}`,
          namespaces: options.namespaces,
          clients: new Map([["", client]]),
        }),
    );
  }

  /** Starts the watches; resolves when the controllers are at work. */
  async start(): Promise<void> {
    this.cache.start();
    await Promise.all(this.#loops.map((loop) => loop.start()));
  }

  /** Takes on no more work and waits for that in progress; what takes longer than the grace is interrupted. */
  stop(): Promise<void> {
    this.#stopped ??= this.#drain();
    return this.#stopped;
  }

  async #drain(): Promise<void> {
    const drained = Promise.all(this.#loops.map((loop) => loop.stop()));
    const late = new AbortController();
    const grace = sleep(this.#clock, this.#grace, {
      background: true,
      label: "shutdown grace",
      signal: late.signal,
    }).then(
      () => {
        for (const loop of this.#loops) loop.abort(new Error("the manager stops"));
      },
      () => {},
    );
    await drained;
    late.abort();
    await grace;
  }
}

/**
 * Runs controllers: `const manager = await run([llmModels], { client })`, and later `await manager.stop()`. Resolves when
 * all they watch has been listed and they are at work.
 */
export async function run(controllers: readonly Controller[] | Controller, options: ManagerOptions): Promise<Manager> {
  const manager = new Manager("kind" in controllers ? [controllers] : controllers, options);
  await manager.start();
  return manager;
}
