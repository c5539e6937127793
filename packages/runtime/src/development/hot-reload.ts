// As a namespace: Bun and Deno have no such hooks, and run all the rest.
import * as nodeModule from "node:module";
import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type Clock, realClock, type Timer } from "@konverge/core";
import { type Log, silentLog } from "../log.ts";
import { FolderWatch } from "./folder-watch.ts";
import { loadErrorText } from "./load-error.ts";

export interface HotReloadOptions<M> {
  /** The file of the module to run. */
  module: string;
  /** The folder whose modules are all loaded again when one changes. Default: the folder that the module is in. */
  folder?: string;
  /** Starts the module. Its result is disposed before the next version starts. */
  start(module: M): Promise<AsyncDisposable>;
  log?: Log;
  clock?: Clock;
}

/** A running module that is reloaded when it changes. */
export interface HotReload extends AsyncDisposable {
  /** The number of versions that were started. */
  readonly versions: number;
  /** Reloads it, as after a change. Resolves when the new version runs, or has failed to start. */
  reload(): Promise<void>;
}

/** Editors write several times when they save: this many milliseconds of quiet, and it counts as saved. */
const QUIET = 100;
/** What tells a version of a module from the one before. */
const VERSION = "konverge-version";
const MODULES = /\.(?:[cm]?[jt]s|json|wasm)$/;
const FOREIGN = /(?:^|[\\/])(?:node_modules|\.git)(?:[\\/]|$)/;

/**
 * Runs a module, and restarts it whenever it or a module beside it changes:
 *
 * ```ts
 * await hotReload({
 *   module: "src/operator.ts",
 *   start: ({ controllers }) => run(controllers, { client, log }),
 * });
 * ```
 *
 * Flow: the new version is loaded while the old one runs; if that fails, the old one keeps running. Then the old one
 * finishes its work in progress and stops, and the new one starts. Its caches are filled again, which a no-op restart
 * makes cheap: only the lists are read.
 *
 * For development: every version stays in memory until the process ends.
 */
export async function hotReload<M>(options: HotReloadOptions<M>): Promise<HotReload> {
  const reloading = new Reloading(options);
  await reloading.reload();
  if (reloading.failure) {
    await reloading[Symbol.asyncDispose]();
    throw reloading.failure;
  }
  return reloading;
}

class Reloading<M> implements HotReload {
  readonly #options: HotReloadOptions<M>;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #module: string;
  readonly #hooks: { deregister(): void };
  readonly #watch: FolderWatch;
  #loaded = 0;
  #running: AsyncDisposable | undefined;
  #work: Promise<void> = Promise.resolve();
  #timer: Timer | undefined;
  #stopped = false;
  versions = 0;
  /** Why the newest version does not run. */
  failure: unknown;

  constructor(options: HotReloadOptions<M>) {
    const { module, folder = dirname(module), log = silentLog, clock = realClock() } = options;
    this.#options = options;
    this.#log = log;
    this.#clock = clock;
    this.#module = pathToFileURL(resolve(module)).href;
    const root = `${pathToFileURL(resolve(folder)).href}/`;
    if (!nodeModule.registerHooks) {
      throw new Error("hotReload needs module.registerHooks, which this runtime does not have: use Node 24 or newer");
    }
    this.#hooks = nodeModule.registerHooks({
      resolve: (specifier, context, next) => {
        const found = next(specifier, context);
        if (!found.url.startsWith(root) || FOREIGN.test(found.url.slice(root.length))) return found;
        // A version keeps to itself, also in what it loads later.
        const own = context.parentURL && new URL(context.parentURL).searchParams.get(VERSION);
        return { ...found, url: versioned(found.url, own || String(this.#loaded)) };
      },
    });
    this.#watch = new FolderWatch({
      folder: resolve(folder),
      excluded: FOREIGN,
      changed: (path) => {
        if (MODULES.test(path) && !FOREIGN.test(path)) this.#changed();
      },
      failed: (error) => log.warn({ err: error }, "changes are no longer detected"),
    });
  }

  reload(): Promise<void> {
    this.#work = this.#work.then(() => this.#renew());
    return this.#work;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#watch.close();
    await this.#work;
    this.#hooks.deregister();
    await this.#running?.[Symbol.asyncDispose]();
    this.#running = undefined;
  }

  #changed(): void {
    this.#timer?.cancel();
    if (this.#stopped) return;
    this.#timer = this.#clock.after(QUIET, () => void this.reload(), { label: "hot reload" });
  }

  async #renew(): Promise<void> {
    if (this.#stopped) return;
    this.#loaded++;
    let module: M;
    try {
      module = (await import(versioned(this.#module, String(this.#loaded)))) as M;
    } catch (error) {
      const why = loadErrorText(error);
      this.failure = new Error(`${this.#options.module} cannot be loaded: ${why}`, { cause: error });
      if (this.versions > 0) {
        this.#log.error({ err: error }, `the new version cannot be loaded, so the previous one keeps running: ${why}`);
      }
      return;
    }
    await this.#running?.[Symbol.asyncDispose]();
    this.#running = undefined;
    try {
      this.#running = await this.#options.start(module);
      this.versions++;
      this.failure = undefined;
      if (this.versions > 1) this.#log.info({ version: this.versions }, "a new version is running");
    } catch (error) {
      this.failure = error;
      this.#log.error({ err: error }, "the new version does not start: waiting for the next change");
    }
  }
}

function versioned(href: string, version: string): string {
  const url = new URL(href);
  url.searchParams.set(VERSION, version);
  return url.href;
}
