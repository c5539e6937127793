import { EventualValue } from "./eventual-value.ts";
import { FetchHeaders } from "./host-fetch.ts";
import { UniversalDate } from "./host-globals.ts";
import { FileStatus } from "./memory-files.ts";

/** A value of a process without a reference to it. */
export type Copied =
  | { readonly type: "shared"; readonly value: unknown }
  /** Something that each process has, by its path from the global object. */
  | { readonly type: "known"; readonly path: string }
  | { readonly type: "callback"; readonly id: number }
  | { readonly type: "bytes"; readonly bytes: Uint8Array }
  | { readonly type: "headers"; readonly headers: FetchHeaders }
  | { readonly type: "abort"; readonly isSignal: boolean; readonly pair: object }
  | { readonly type: "list"; readonly items: Copied[] }
  | { readonly type: "record"; readonly entries: [string, Copied][] }
  | { readonly type: "eventual"; readonly waiting: [Copied, Copied][] };

/** Everything that each process has: what can be reached from its global object in two steps, without what the program added. */
function knownValues(globals: Record<string, unknown>, added: ReadonlySet<string>): Map<unknown, string> {
  const known = new Map<unknown, string>([[globals, ""]]);
  for (const [name, value] of Object.entries(globals)) {
    if (added.has(name)) continue;
    if (!known.has(value)) known.set(value, name);
    if (typeof value !== "object" || value === null) continue;
    for (const [inner, content] of Object.entries(value)) {
      if (typeof content === "object" || typeof content === "function") known.set(content, `${name}.${inner}`);
    }
  }
  return known;
}

/** Copies what a process holds. What refers to each other does so in the copy. */
export class StateCopier {
  readonly #known: Map<unknown, string>;
  readonly #copies = new Map<unknown, Copied>();
  readonly #signals = new Map<AbortSignal, object>();
  /** Whether there was something that cannot be copied. */
  failed = false;

  constructor(globals: Record<string, unknown>, added: ReadonlySet<string>) {
    this.#known = knownValues(globals, added);
  }

  copy(value: unknown): Copied {
    if ((typeof value !== "object" && typeof value !== "function") || value === null) return { type: "shared", value };
    const done = this.#copies.get(value);
    if (done) return done;
    const copy = this.#copy(value);
    this.#copies.set(value, copy);
    this.#fill(value, copy);
    return copy;
  }

  /** Without what it contains: that may contain this. */
  #copy(value: object): Copied {
    const path = this.#known.get(value);
    if (path !== undefined) return { type: "known", path };
    if ("goFunction" in value) return { type: "callback", id: value.goFunction as number };
    if ("_makeFuncWrapper" in value) return { type: "known", path: "self" };
    if (value instanceof FileStatus || value instanceof UniversalDate) return { type: "shared", value };
    if (value instanceof Uint8Array) return { type: "bytes", bytes: value.slice() };
    if (value instanceof FetchHeaders) return { type: "headers", headers: value.copy() };
    if (value instanceof AbortController) return this.#abort(value.signal, false);
    if (value instanceof AbortSignal) return this.#abort(value, true);
    if (value instanceof EventualValue && !value.isSettled) return { type: "eventual", waiting: [] };
    if (Array.isArray(value)) return { type: "list", items: [] };
    if (Object.getPrototypeOf(value) === Object.prototype) return { type: "record", entries: [] };
    this.failed = true;
    return { type: "shared", value: undefined };
  }

  #fill(value: object, copy: Copied): void {
    if (copy.type === "list") copy.items.push(...(value as unknown[]).map((item) => this.copy(item)));
    if (copy.type === "record") {
      for (const [name, inner] of Object.entries(value)) copy.entries.push([name, this.copy(inner)]);
    }
    if (copy.type === "eventual") {
      for (const [resolved, rejected] of (value as EventualValue).waiting) {
        copy.waiting.push([this.copy(resolved), this.copy(rejected)]);
      }
    }
  }

  #abort(signal: AbortSignal, isSignal: boolean): Copied {
    if (signal.aborted) this.failed = true;
    const pair = this.#signals.get(signal) ?? {};
    this.#signals.set(signal, pair);
    return { type: "abort", isSignal, pair };
  }
}

/** Lays out copied values for another process. */
export class CopiedState {
  readonly #known: Map<string, unknown>;
  readonly #callback: (id: number) => unknown;
  readonly #values = new Map<Copied, unknown>();
  readonly #controllers = new Map<object, AbortController>();

  constructor(globals: Record<string, unknown>, self: object, callback: (id: number) => unknown) {
    this.#known = new Map([...knownValues(globals, new Set())].map(([value, path]) => [path, value]));
    this.#known.set("self", self);
    this.#callback = callback;
  }

  restore(copy: Copied): unknown {
    if (copy.type === "shared") return copy.value;
    const done = this.#values.get(copy);
    if (done !== undefined) return done;
    const value = this.#empty(copy);
    this.#values.set(copy, value);
    if (copy.type === "list") (value as unknown[]).push(...copy.items.map((item) => this.restore(item)));
    if (copy.type === "record") {
      for (const [name, inner] of copy.entries) (value as Record<string, unknown>)[name] = this.restore(inner);
    }
    if (copy.type === "eventual") {
      for (const [resolved, rejected] of copy.waiting) {
        (value as EventualValue).then(this.restore(resolved) as never, this.restore(rejected) as never);
      }
    }
    return value;
  }

  #empty(copy: Exclude<Copied, { type: "shared" }>): unknown {
    switch (copy.type) {
      case "known":
        return this.#known.get(copy.path);
      case "callback":
        return this.#callback(copy.id);
      case "bytes":
        return copy.bytes.slice();
      case "headers":
        return copy.headers.copy();
      case "list":
        return [];
      case "record":
        return {};
      case "eventual":
        return new EventualValue();
      case "abort": {
        const controller = this.#controllers.get(copy.pair) ?? new AbortController();
        this.#controllers.set(copy.pair, controller);
        return copy.isSignal ? controller.signal : controller;
      }
    }
  }
}
