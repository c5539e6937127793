import type { Clock } from "@konverge/core";
import type { Container, Pod } from "@konverge/kinds";
import { APPLETS } from "./applets/applets.ts";
import { FileError } from "./file-error.ts";
import type { FileSystem, FileUser } from "./file-system.ts";
import { Input } from "./input.ts";
import type { ContainerLimits } from "./limits/machine.ts";
import { OutOfMemory } from "./limits/memory.ts";
import type { ContainerNetwork } from "./network.ts";
import { BrokenPipe } from "./pipe.ts";
import { type Command, noInput, type Process, type SpawnOptions, type Streams } from "./process.ts";

/** What all processes of a container share. */
export interface UserlandOptions {
  readonly pod: Pod;
  readonly container: Container;
  readonly env: Readonly<Record<string, string>>;
  readonly files: FileSystem;
  readonly user: FileUser;
  readonly network: ContainerNetwork;
  readonly clock: Clock;
  readonly cwd: string;
  /** The programs of its image, by path or name; they take precedence over those of every image. */
  readonly commands: Readonly<Record<string, Command>>;
  /** Those of them that run as root for every user. */
  readonly setuid: readonly string[];
  /** No process may gain privileges by what it executes: the setuid bit means nothing. */
  readonly noNewPrivileges: boolean;
  readonly limits: ContainerLimits;
  /** Aborts when the container has ended: all that runs in it is killed. */
  readonly ended: AbortSignal;
  log(text: string | Uint8Array): void;
}

/** How a process is stopped. */
export interface Signals {
  /** Asks it to. */
  readonly stop?: AbortSignal;
  readonly kill?: AbortSignal;
}

const KILLED = 137;
const BROKEN_PIPE = 141;
const TERMINATED = 143;
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;
const CANNOT_FORK = 2;
/** Aborts a process: one shared error, as creating one takes longer than most commands. */
const ENDED = new Error("the process has ended");
/** What a process takes before it does anything, in bytes. */
const PROCESS = 64 * 1024;
/** And how many steps. */
const START = 2;
/** Processes that start one another stop here: killing the first kills the others, one from the other. */
const DEEPEST = 128;
/** The search path of commands. */
const SEARCHED = /^\/(usr\/(local\/)?)?s?bin\//;

/**
 * What runs in a simulated container: commands written for it, over files, users and a network that exist in memory only.
 * Nothing of the machine is touched.
 */
export class Userland {
  readonly #options: UserlandOptions;

  constructor(options: UserlandOptions) {
    // Commands are found by names that scripts give: `constructor` is none.
    this.#options = { ...options, commands: Object.assign(Object.create(null), options.commands) };
  }

  get files(): FileSystem {
    return this.#options.files;
  }

  get env(): Readonly<Record<string, string>> {
    return this.#options.env;
  }

  /** Where a command is: its path, or undefined when there is none. */
  find(name: string): string | undefined {
    const { commands, files } = this.#options;
    if (commands[name] || APPLETS[name]) return name.startsWith("/") ? name : `/bin/${name}`;
    const isFile = name.includes("/") && files.exists(name) && files.stat(name).kind === "file";
    return SEARCHED.test(name) && this.#command(name) ? name : isFile ? name : undefined;
  }

  /** Runs a command to its exit code. */
  async run(argv: readonly string[], streams: Partial<Streams> = {}, signals: Signals = {}): Promise<number> {
    const io: Streams = {
      stdin: Input.of(streams.stdin ?? noInput()),
      stdout: streams.stdout ?? (() => undefined),
      stderr: streams.stderr ?? (() => undefined),
    };
    return this.#start(argv, io, signals, {}, 0);
  }

  async #start(
    argv: readonly string[],
    streams: Streams,
    { stop, kill }: Signals,
    { env, cwd, endless = false, user: caller = this.#options.user }: SpawnOptions & { user?: FileUser },
    depth: number,
  ): Promise<number> {
    const options = this.#options;
    if (depth > DEEPEST) {
      streams.stderr("sh: can't fork: Resource temporarily unavailable\n");
      return CANNOT_FORK;
    }
    const command = this.#command(argv[0] ?? "") ?? this.#script(argv[0] ?? "");
    if (!command) {
      const isThere = (argv[0] ?? "").includes("/") && options.files.exists(argv[0]!);
      streams.stderr(`sh: ${argv[0]}: ${isThere ? "Permission denied" : "not found"}\n`);
      return isThere ? NOT_EXECUTABLE : NOT_FOUND;
    }
    const over = new AbortController();
    let status: number | undefined;
    const exit = (code: number) => {
      status ??= code;
      over.abort(ENDED);
    };
    let onStop = () => exit(TERMINATED);
    const stopped = () => onStop();
    const killed = () => exit(KILLED);
    stop?.addEventListener("abort", stopped, { once: true });
    // What another process has started is killed with it.
    const kills = [kill, depth === 0 ? options.ended : undefined].filter((signal) => signal !== undefined);
    for (const signal of kills) {
      signal.addEventListener("abort", killed, { once: true });
      if (signal.aborted) killed();
    }
    if (stop?.aborted) stopped();
    const { name = "", namespace = "" } = options.pod.metadata;
    const label = `${namespace}/${name} ${options.container.name}`;
    const memory = options.limits.memory.open();
    const writing =
      (write: Streams["stdout"]): Streams["stdout"] =>
      (data) => {
        try {
          return write(data);
        } catch (error) {
          if (error instanceof BrokenPipe) exit(BROKEN_PIPE);
          return failed(error);
        }
      };
    const [program = ""] = argv;
    const isSetuid = options.setuid.some((name) => name === program || name === program.replace(SEARCHED, ""));
    const isRaised = isSetuid && !options.noNewPrivileges;
    const user = isRaised ? { ...caller, uid: 0 } : caller;
    const process: Process = {
      ...options,
      user,
      files: user === options.user ? options.files : options.files.as(user),
      stdin: streams.stdin,
      stdout: writing(streams.stdout),
      stderr: writing(streams.stderr),
      argv,
      env: env ?? options.env,
      cwd: cwd ?? options.cwd,
      signal: over.signal,
      label,
      endless,
      memory,
      spend: (steps, background = endless) => {
        if (over.signal.aborted) return failed(over.signal.reason);
        return options.limits.cpu.spend(steps, { signal: over.signal, background, label });
      },
      exit,
      find: (wanted) => this.find(wanted),
      onTerminate: (handler) => {
        onStop = handler;
      },
      run: (words, changes = {}) => {
        const io = { ...streams, ...changes };
        const kill = changes.signal ? AbortSignal.any([over.signal, changes.signal]) : over.signal;
        const child = { env: env ?? options.env, cwd: cwd ?? options.cwd, endless, ...changes, user };
        return this.#start(words, io, { kill }, child, depth + 1);
      },
    };
    try {
      memory.hold(PROCESS);
      await process.spend(START);
      return await ended(command(process), over.signal);
    } catch (error) {
      if (status !== undefined) return status;
      if (error instanceof OutOfMemory) return KILLED;
      if (error instanceof BrokenPipe) return BROKEN_PIPE;
      const why = error instanceof Error ? error.message : String(error);
      streams.stderr(`${argv[0]}: ${error instanceof FileError ? `${error.path}: ${why}` : why}\n`);
      return 1;
    } finally {
      stop?.removeEventListener("abort", stopped);
      for (const signal of kills) signal.removeEventListener("abort", killed);
      over.abort(ENDED);
      memory.close();
    }
  }

  #command(name: string): Command | undefined {
    const { commands } = this.#options;
    const base = name.replace(SEARCHED, "");
    return commands[name] ?? (base.includes("/") ? undefined : (commands[base] ?? APPLETS[base]));
  }

  /** A file that may be executed is a script for the shell. */
  #script(name: string): Command | undefined {
    const { files } = this.#options;
    if (!name.includes("/") || !files.exists(name) || !files.allows(name, 1)) return undefined;
    if (files.stat(name).kind !== "file") return undefined;
    return (process) => APPLETS["sh"]!({ ...process, argv: ["sh", name, ...process.argv.slice(1)] });
  }
}

/** A promise that has failed. A command that does not await it, or calls from a callback, must not take this process down. */
function failed(error: unknown): Promise<never> {
  const promise = Promise.reject(error);
  promise.catch(() => {});
  return promise;
}

/** A killed process has ended, whether it notices or not. */
function ended(running: Promise<number>, over: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    const killed = () => reject(over.reason);
    if (over.aborted) killed();
    over.addEventListener("abort", killed, { once: true });
    running.then(resolve, reject);
  });
}
