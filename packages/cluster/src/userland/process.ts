import type { Clock } from "@konverge/core";
import type { Container, Pod } from "@konverge/kinds";
import type { FileSystem, FileUser } from "./file-system.ts";
import type { ContainerNetwork } from "./network.ts";

/** Where a process reads from and writes to. */
export interface Streams {
  readonly stdin: AsyncIterable<Uint8Array>;
  stdout(text: string | Uint8Array): void;
  stderr(text: string | Uint8Array): void;
}

/** What is different for a process that another one starts. */
export interface SpawnOptions extends Partial<Streams> {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** It runs in a loop that never ends by itself. */
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
  /** Aborts when the process is killed: whatever waits must give up. */
  readonly signal: AbortSignal;
  /** Names it where somebody asks who still works. */
  readonly label: string;
  /** It runs in a loop that never ends by itself: nobody waits for it, so its waits are housekeeping. */
  readonly endless: boolean;
  /** Ends it at once. */
  exit(status: number): void;
  /** Adds to the container's log, wherever the process itself writes. */
  log(text: string | Uint8Array): void;
  /** Where a command is; undefined when there is none. */
  find(name: string): string | undefined;
  /** Takes over what happens when the container is told to end; without it the process is killed. */
  onTerminate(handler: () => void): void;
  /** Runs another command in the same container; 127 when there is none of that name. */
  run(argv: readonly string[], options?: SpawnOptions): Promise<number>;
}

/** A program of a container's image, by its exit code. */
export type Command = (process: Process) => Promise<number>;

/** Nothing to read. */
export async function* noInput(): AsyncGenerator<Uint8Array, void, void> {}

/** All that a process is given to read. */
export async function allOf(input: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of input) chunks.push(chunk);
  return Buffer.concat(chunks);
}
