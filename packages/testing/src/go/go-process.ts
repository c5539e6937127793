import type { Clock, Random, Timer, Transport } from "@konverge/core";
import { CopiedState, StateCopier } from "./copied-state.ts";
import { EventualValue } from "./eventual-value.ts";
import { GLOBAL_EXPORT } from "./exported-globals.ts";
import type { GoExports, GoModule } from "./go-module.ts";
import type { GoSnapshot } from "./go-snapshot.ts";
import { type FetchOptions, type StartedFetch, sendFetch } from "./host-fetch.ts";
import type { FunctionHost } from "./host-functions.ts";
import { hostGlobals } from "./host-globals.ts";
import { HostValues } from "./host-values.ts";
import type { MemoryFiles } from "./memory-files.ts";
import { OutputLines } from "./output-lines.ts";
import {
  BRIDGE,
  type ListenerRequest,
  type ListenerResponse,
  type ProgramBridge,
  requestError,
} from "./program-bridge.ts";
import type { WasmGlobal } from "./web-assembly.ts";

/** What a process of a Go program is started with. */
export interface GoProcessOptions {
  readonly module: GoModule;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly files: MemoryFiles;
  readonly clock: Clock;
  readonly random: Random;
  /** The way to a server, by the host of its URL; undefined if there is none. */
  reach(host: string): Transport | undefined;
  /** Called with each line that it prints. */
  printed(line: string): void;
  /** Called when it exits without being killed. */
  ended(exit: GoExit): void;
}

/** How a process ended. */
export interface GoExit {
  readonly code: number;
  /** The error by which its host could not run it any more, if that is why. */
  readonly error?: unknown;
}

/** A call of a Go function from outside. */
interface GoEvent {
  readonly id: number;
  readonly this: unknown;
  readonly args: readonly unknown[];
  result?: unknown;
}

/** The time that a process finds when it starts, in nanoseconds: its own time must not depend on when it was started. */
const FIRST_MOMENT = 1_000_000_000;
/** Where arguments and environment are written, and where they must end: Go's linker puts its own data there. */
const ARGUMENTS = { start: 4096, end: 4096 + 8192 };

/**
 * A process of a Go program, in this process: an instance of its module with separate memory. Time, timers, randomness, files
 * and the network are those of its host. It runs only within {@link start} and when something calls back: a timer, a response.
 */
export class GoProcess implements FunctionHost {
  readonly #options: GoProcessOptions;
  readonly #output: OutputLines;
  readonly #timers = new Map<number, { readonly timer: Timer; readonly due: number }>();
  readonly #self: { _pendingEvent: GoEvent | null; _makeFuncWrapper: (id: number) => unknown };
  readonly #globals: Record<string, unknown>;
  /** The names in its global object that its host has put there. */
  readonly #given: ReadonlySet<string>;
  readonly #random: Random;
  readonly #calls = new Set<(error: Error) => void>();
  #values: HostValues;
  #exports: GoExports | undefined;
  #memory: DataView | undefined;
  #started = 0;
  #lastTimer = 0;
  /** What it requested before it first waited: sent then. */
  #startedFetches: StartedFetch[] | undefined = [];
  /** Calls into Go that are in progress, one within the other. */
  #depth = 0;
  #isOver = false;

  constructor(options: GoProcessOptions) {
    this.#options = options;
    this.#output = new OutputLines((line) => options.printed(line));
    this.#random = options.random;
    this.#globals = hostGlobals({
      files: options.files,
      fetch: (url, given) => this.#fetch(url, given),
      write: (file, bytes) => this.write(file, bytes),
      random: (bytes) => this.random(bytes),
    });
    this.#given = new Set(Object.keys(this.#globals));
    this.#self = { _pendingEvent: null, _makeFuncWrapper: (id) => this.#callback(id) };
    this.#values = new HostValues(this.#globals, this.#self);
  }

  get values(): HostValues {
    return this.#values;
  }

  /** Whether it has ended or was killed. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Delivers SIGTERM; false if the program was compiled without a way in. */
  terminate(): boolean {
    const bridge = this.#bridge;
    bridge?.terminate();
    return bridge !== undefined;
  }

  /** Sends a request to one of its listeners, over TLS. */
  post({ port, host, roots, path, body, timeoutMs }: ListenerRequest): Promise<ListenerResponse> {
    const bridge = this.#bridge;
    if (!bridge) {
      return Promise.reject(new Error("the program was compiled without a way to its listeners: compile it with --go"));
    }
    const { promise, resolve, reject } = Promise.withResolvers<ListenerResponse>();
    const ended = (error: Error) => reject(error);
    this.#calls.add(ended);
    bridge.post(String(port), host, roots, path, new TextEncoder().encode(body), timeoutMs, (status, text) => {
      this.#calls.delete(ended);
      if (status > 0) resolve({ status, body: text });
      else reject(requestError(text));
    });
    return promise;
  }

  /** Runs it until it waits for the first time. Then `snapshot` can be taken. */
  start(): void {
    const { module, clock, args, env } = this.#options;
    this.#started = clock.monotonic();
    this.#exports = module.instantiate(this);
    this.memoryGrew();
    const argv = this.#writeArguments(args, env);
    this.#enter((go) => go.run(args.length, argv));
  }

  /** Sends what was requested during the start. */
  release(): void {
    const fetches = this.#startedFetches ?? [];
    this.#startedFetches = undefined;
    for (const one of fetches) this.#send(one);
  }

  /** Everything that another process needs to continue from here; undefined if something cannot be copied. */
  snapshot(): GoSnapshot | undefined {
    const files = this.#options.files.copy(() => 0);
    if (this.#isOver || !this.#exports || !files || !this.#startedFetches) return undefined;
    const added = Object.keys(this.#globals).filter((name) => !this.#given.has(name));
    const copier = new StateCopier(this.#globals, new Set(added));
    const values = this.#values.copy((value) => copier.copy(value));
    const fetches = copier.copy(this.#startedFetches);
    if (copier.failed) return undefined;
    const now = this.#options.clock.monotonic();
    return {
      memory: new Uint8Array(this.#exports.mem.buffer.slice(0)),
      globals: globalsOf(this.#exports).map(({ value }) => value),
      values,
      added: new Map(added.map((name) => [name, copier.copy(this.#globals[name])])),
      fetches,
      files,
      elapsed: now - this.#started,
      lastTimer: this.#lastTimer,
      timers: [...this.#timers].map(([id, { due }]) => ({ id, left: due - now })),
    };
  }

  /** Continues where the snapshot was taken, instead of {@link start}. Its own time is that of the snapshot. */
  resume(snapshot: GoSnapshot): void {
    const { module, clock } = this.#options;
    this.#started = clock.monotonic() - snapshot.elapsed;
    const exports = module.instantiate(this);
    this.#exports = exports;
    const missing = snapshot.memory.length - exports.mem.buffer.byteLength;
    if (missing > 0) exports.mem.grow(missing / PAGE);
    new Uint8Array(exports.mem.buffer).set(snapshot.memory);
    this.memoryGrew();
    for (const [i, global] of globalsOf(exports).entries()) global.value = snapshot.globals[i]!;
    const state = new CopiedState(this.#globals, this.#self, (id) => this.#callback(id));
    for (const [name, value] of snapshot.added) this.#globals[name] = state.restore(value);
    this.#values = new HostValues(this.#globals, this.#self, {
      ...snapshot.values,
      values: snapshot.values.values.map((value) => state.restore(value as never)),
    });
    this.#startedFetches = state.restore(snapshot.fetches) as StartedFetch[];
    this.#lastTimer = snapshot.lastTimer;
    for (const { id, left } of snapshot.timers) this.#setTimer(id, left);
  }

  /** Ends it as SIGKILL does: nothing more happens, and its memory is free. */
  kill(): void {
    this.#isOver = true;
    for (const { timer } of this.#timers.values()) timer.cancel();
    this.#timers.clear();
    this.#startedFetches = undefined;
    for (const ended of this.#calls) ended(new Error("EOF"));
    this.#calls.clear();
    if (this.#depth === 0) this.#free();
  }

  memory(): DataView {
    return this.#memory!;
  }

  memoryGrew(): void {
    this.#memory = new DataView(this.#exports!.mem.buffer);
  }

  stack(): number {
    return this.#exports!.getsp();
  }

  exit(code: number): void {
    this.#end({ code });
  }

  write(_file: number, bytes: Uint8Array): void {
    this.#output.write(bytes);
  }

  monotonic(): number {
    return FIRST_MOMENT + Math.round((this.#options.clock.monotonic() - this.#started) * 1_000_000);
  }

  now(): number {
    return this.#options.clock.now();
  }

  wakeAfter(ms: number): number {
    this.#setTimer(++this.#lastTimer, ms);
    return this.#lastTimer;
  }

  cancelWake(id: number): void {
    this.#timers.get(id)?.timer.cancel();
    this.#timers.delete(id);
  }

  random(bytes: Uint8Array): void {
    for (let i = 0; i < bytes.length; i++) bytes[i] = this.#random.below(256);
  }

  get #bridge(): ProgramBridge | undefined {
    return this.#isOver ? undefined : (this.#globals[BRIDGE] as ProgramBridge | undefined);
  }

  #setTimer(id: number, ms: number): void {
    const { clock } = this.#options;
    // Go does not say what it waits for: none of its timers keeps a cluster from being idle.
    const timer = clock.after(
      ms,
      () => {
        // Go removes the timer itself; if it does not, it was not yet ready to.
        this.#enter((go) => go.resume());
        if (this.#timers.has(id)) this.#setTimer(id, 1);
      },
      { background: true, label: "go" },
    );
    this.#timers.set(id, { timer, due: clock.monotonic() + ms });
  }

  #fetch(url: string, options: FetchOptions): EventualValue {
    const started = { url, options, response: new EventualValue() };
    if (this.#startedFetches) this.#startedFetches.push(started);
    else this.#send(started);
    return started.response;
  }

  #send(started: StartedFetch): void {
    if (this.#isOver) return;
    sendFetch(started, this.#options.reach(new URL(started.url).host));
  }

  /** A function by which JavaScript calls one of Go's. */
  #callback(id: number): unknown {
    const process = this;
    const callback = function (this: unknown, ...args: unknown[]): unknown {
      if (process.#isOver) return undefined;
      const event: GoEvent = { id, this: this, args };
      process.#self._pendingEvent = event;
      process.#enter((go) => go.resume());
      return event.result;
    };
    return Object.assign(callback, { goFunction: id });
  }

  /** Runs Go code until all its goroutines wait. */
  #enter(run: (go: GoExports) => void): void {
    const exports = this.#exports;
    if (this.#isOver || !exports) return;
    this.#depth++;
    try {
      run(exports);
    } catch (error) {
      this.#end({ code: -1, error });
    } finally {
      this.#depth--;
    }
    if (this.#isOver && this.#depth === 0) this.#free();
  }

  #end(exit: GoExit): void {
    if (this.#isOver) return;
    this.kill();
    this.#output.end();
    this.#options.ended(exit);
  }

  /** What others still hold of this process must not hold its memory. */
  #free(): void {
    this.#exports = undefined;
    this.#memory = undefined;
    this.#values = new HostValues(this.#globals, this.#self);
  }

  #writeArguments(args: readonly string[], env: Readonly<Record<string, string>>): number {
    const memory = this.memory();
    let at = ARGUMENTS.start;
    const texts = [
      ...args,
      undefined,
      ...Object.keys(env)
        .sort()
        .map((name) => `${name}=${env[name]}`),
      undefined,
    ];
    const addresses = texts.map((text) => {
      if (text === undefined) return 0;
      const bytes = new TextEncoder().encode(`${text}\0`);
      const address = at;
      at = Math.ceil((at + bytes.length) / 8) * 8;
      if (at < ARGUMENTS.end) new Uint8Array(memory.buffer).set(bytes, address);
      return address;
    });
    const argv = at;
    if (argv + 8 * addresses.length >= ARGUMENTS.end) {
      throw new Error("the arguments and the environment of a Go program may have 8,000 bytes together: pass less");
    }
    for (const [i, address] of addresses.entries()) memory.setBigUint64(argv + 8 * i, BigInt(address), true);
    return argv;
  }
}

const PAGE = 65_536;

function globalsOf(exports: GoExports): WasmGlobal[] {
  const all = exports as unknown as Record<string, WasmGlobal>;
  return Object.keys(all)
    .filter((name) => name.startsWith(GLOBAL_EXPORT))
    .map((name) => all[name]!);
}
