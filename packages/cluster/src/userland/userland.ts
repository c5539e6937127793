import type { Clock } from "@konverge/core";
import type { Container, Pod } from "@konverge/kinds";
import { APPLETS } from "./applets/applets.ts";
import { FileError } from "./file-error.ts";
import type { FileSystem, FileUser } from "./file-system.ts";
import type { ContainerNetwork } from "./network.ts";
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
  /** The programs of its image, by path or name; those that every image has come after them. */
  readonly commands: Readonly<Record<string, Command>>;
  log(text: string | Uint8Array): void;
}

/** How a process is told to end. */
export interface Signals {
  /** Asks it to. */
  readonly stop?: AbortSignal;
  readonly kill?: AbortSignal;
}

const KILLED = 137;
const TERMINATED = 143;
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;
/** Where commands without a path are looked for. */
const SEARCHED = /^\/(usr\/(local\/)?)?s?bin\//;

/**
 * What runs in a simulated container: commands written for it, over files, users and a network that exist in memory only.
 * Nothing of the machine is touched.
 */
export class Userland {
  readonly #options: UserlandOptions;

  constructor(options: UserlandOptions) {
    this.#options = options;
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
      stdin: streams.stdin ?? noInput(),
      stdout: streams.stdout ?? (() => {}),
      stderr: streams.stderr ?? (() => {}),
    };
    return this.#start(argv, io, signals, {});
  }

  async #start(
    argv: readonly string[],
    streams: Streams,
    { stop, kill }: Signals,
    { env, cwd, endless = false }: SpawnOptions,
  ): Promise<number> {
    const options = this.#options;
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
      over.abort();
    };
    let onStop = () => exit(TERMINATED);
    const stopped = () => onStop();
    const killed = () => exit(KILLED);
    stop?.addEventListener("abort", stopped, { once: true });
    kill?.addEventListener("abort", killed, { once: true });
    if (kill?.aborted) killed();
    else if (stop?.aborted) stopped();
    const { name = "", namespace = "" } = options.pod.metadata;
    const process: Process = {
      ...options,
      ...streams,
      argv,
      env: env ?? options.env,
      cwd: cwd ?? options.cwd,
      signal: over.signal,
      label: `${namespace}/${name} ${options.container.name}`,
      endless,
      exit,
      find: (wanted) => this.find(wanted),
      onTerminate: (handler) => {
        onStop = handler;
      },
      run: (words, changes = {}) => {
        const io = { ...streams, ...changes };
        const kills = changes.signal ? AbortSignal.any([over.signal, changes.signal]) : over.signal;
        return this.#start(
          words,
          io,
          { kill: kills },
          { env: env ?? options.env, cwd: cwd ?? options.cwd, endless, ...changes },
        );
      },
    };
    try {
      return await ended(command(process), over.signal);
    } catch (error) {
      if (status !== undefined) return status;
      const why = error instanceof Error ? error.message : String(error);
      streams.stderr(`${argv[0]}: ${error instanceof FileError ? `${error.path}: ${why}` : why}\n`);
      return 1;
    } finally {
      stop?.removeEventListener("abort", stopped);
      kill?.removeEventListener("abort", killed);
      over.abort();
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

/** A process that is killed is over, whether it notices or not. */
function ended(running: Promise<number>, over: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    const killed = () => reject(over.reason);
    if (over.aborted) killed();
    over.addEventListener("abort", killed, { once: true });
    running.then(resolve, reject);
  });
}
