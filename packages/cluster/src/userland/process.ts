import type { Clock } from "@konverge/core";
import type { Container, Pod } from "@konverge/kinds";
import type { FileSystem, FileUser } from "./file-system.ts";
import type { Holding } from "./limits/memory.ts";
import type { ContainerNetwork } from "./network.ts";

/** Resolves when there is room for more output; nothing when there is. A process that writes much awaits it. */
export type Room = Promise<void> | void;

/** Where a process reads from and writes to. */
export interface Streams {
  readonly stdin: AsyncIterable<Uint8Array>;
  stdout(text: string | Uint8Array): Room;
  stderr(text: string | Uint8Array): Room;
}

/** What is different for a process that another one starts. */
export interface SpawnOptions extends Partial<Streams> {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** It runs in an infinite loop. */
  readonly endless?: boolean;
  /** Kills it before its time. */
  readonly signal?: AbortSignal;
}

/** A process in a simulated container, as a {@link Command} sees it. */
export interface Process extends Streams {
  readonly pod: Pod;
  readonly container: Container;
  /** The name it was called by, and its arguments. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly user: FileUser;
  readonly files: FileSystem;
  readonly network: ContainerNetwork;
  readonly clock: Clock;
  /** Counts what it holds in memory, until it ends or gives it back. A container over its limit is killed. */
  readonly memory: Holding;
  /** Aborts when the process is killed: everything that waits must stop. */
  readonly signal: AbortSignal;
  /** Names it in reports of what still works. */
  readonly label: string;
  /** It runs in an infinite loop: nothing waits for it, so its timers are background timers. */
  readonly endless: boolean;
  /**
   * Counts work, in steps of some microseconds. A command awaits what this returns before it does more, so that nothing a
   * container does stops the API server: `for (const line of lines) { await spend(1); … }`. In an infinite loop
   * (`endless`), nothing waits for that work.
   */
  spend(steps: number, endless?: boolean): Promise<void> | undefined;
  /** Ends it at once. */
  exit(status: number): void;
  /** Adds to the container's log, wherever the process itself writes. */
  log(text: string | Uint8Array): void;
  /** Where a command is; undefined when there is none. */
  find(name: string): string | undefined;
  /** Handles SIGTERM of the container; without it the process is killed. */
  onTerminate(handler: () => void): void;
  /** Runs another command in the same container; 127 when there is none of that name. */
  run(argv: readonly string[], options?: SpawnOptions): Promise<number>;
}

/** A program of a container's image, by its exit code. */
export type Command = (process: Process) => Promise<number>;

/** Nothing to read. */
export async function* noInput(): AsyncGenerator<Uint8Array, void, void> {}
