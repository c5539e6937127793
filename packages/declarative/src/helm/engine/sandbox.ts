/**
 * What a program in WebAssembly gets from its host: standard input and output, a clock that stands still, and randomness that a
 * seed decides. There are no files, no environment and no network.
 */
import { createHash } from "node:crypto";

/** The input of a program. */
export interface SandboxInput {
  readonly input: Uint8Array;
  /** Milliseconds since 1970: the same during the whole run. */
  readonly now: number;
  /** The same seed gives the same random numbers. */
  readonly seed: string;
}

/** What a program wrote. */
export interface SandboxOutput {
  readonly output: Uint8Array;
  readonly messages: string;
  /** Whether it asked for random numbers after it had begun to read its input. */
  readonly usedRandom: boolean;
}

/** The part of an instance that the host needs. */
interface Instance {
  readonly exports: { readonly memory?: { readonly buffer: ArrayBuffer }; readonly _start?: () => void };
}

/** Makes an instance of a compiled module. */
export type Instantiate = (imports: object) => Instance;

/** Numbers of WASI preview 1. */
const [SUCCESS, BAD_FILE, NOT_SUPPORTED] = [0, 8, 58];
const [STDIN, STDOUT, STDERR] = [0, 1, 2];
const CHARACTER_DEVICE = 2;
const REALTIME = 0;
/** How far the monotonic clock goes with each reading. */
const TICK = 1000n;
/** The only argument: the name of the program, which Go's libraries expect. */
const PROGRAM = new TextEncoder().encode("helm\0");

/** Thrown when the program ends itself. */
class Exit extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`exit code ${code}`);
    this.code = code;
  }
}

/** Runs a program to its end. Throws if it fails. */
export function runInSandbox(instantiate: Instantiate, given: SandboxInput): SandboxOutput {
  const host = new Host(given);
  const instance = instantiate({ wasi_snapshot_preview1: host.imports() });
  host.memory = instance.exports.memory;
  let code = 0;
  try {
    instance.exports._start?.();
  } catch (error) {
    if (!(error instanceof Exit)) throw error;
    code = error.code;
  }
  const messages = new TextDecoder().decode(joined(host.messages));
  if (code !== 0) throw new Error(problemIn(messages) ?? `Helm's engine ended with exit code ${code}`);
  return { output: joined(host.output), messages, usedRandom: host.usedRandom };
}

/** The first line of what a Go program reports at its end. */
function problemIn(messages: string): string | undefined {
  const line = messages.split("\n").find((one) => one.trim() !== "");
  return line?.replace(/^(fatal error|panic|runtime): /, "");
}

class Host {
  memory: { readonly buffer: ArrayBuffer } | undefined;
  readonly output: Uint8Array[] = [];
  readonly messages: Uint8Array[] = [];
  usedRandom = false;
  readonly #given: SandboxInput;
  #read = 0;
  #monotonic = 0n;
  #drawn = 0;

  constructor(given: SandboxInput) {
    this.#given = given;
  }

  get #view(): DataView {
    return new DataView(this.memory!.buffer);
  }

  imports(): Record<string, (...parameters: never[]) => number> {
    const refused = () => NOT_SUPPORTED;
    const noFile = () => BAD_FILE;
    return {
      args_get: (pointers: number, at: number) => this.#arguments(pointers, at),
      args_sizes_get: (count: number, size: number) => this.#sizes(count, size, 1, PROGRAM.length),
      environ_get: () => SUCCESS,
      environ_sizes_get: (count: number, size: number) => this.#sizes(count, size, 0, 0),
      clock_time_get: (clock: number, _precision: bigint, at: number) => this.#time(clock, at),
      random_get: (at: number, length: number) => this.#random(at, length),
      fd_read: (file: number, vectors: number, count: number, at: number) => this.#readInto(file, vectors, count, at),
      fd_write: (file: number, vectors: number, count: number, at: number) => this.#write(file, vectors, count, at),
      fd_fdstat_get: (file: number, at: number) => this.#stat(file, at),
      fd_fdstat_set_flags: () => SUCCESS,
      fd_close: () => SUCCESS,
      fd_prestat_get: noFile,
      fd_prestat_dir_name: noFile,
      poll_oneoff: (subscriptions: number, events: number, count: number, at: number) =>
        this.#poll(subscriptions, events, count, at),
      sched_yield: () => SUCCESS,
      proc_exit: (code: number) => {
        throw new Exit(code);
      },
      ...Object.fromEntries(NEVER_THERE.map((name) => [name, refused])),
    };
  }

  #arguments(pointers: number, at: number): number {
    this.#view.setUint32(pointers, at, true);
    new Uint8Array(this.memory!.buffer, at, PROGRAM.length).set(PROGRAM);
    return SUCCESS;
  }

  #sizes(countAt: number, sizeAt: number, count: number, size: number): number {
    this.#view.setUint32(countAt, count, true);
    this.#view.setUint32(sizeAt, size, true);
    return SUCCESS;
  }

  #time(clock: number, at: number): number {
    this.#monotonic += TICK;
    const time = clock === REALTIME ? BigInt(Math.floor(this.#given.now)) * 1_000_000n : this.#monotonic;
    this.#view.setBigUint64(at, time, true);
    return SUCCESS;
  }

  #random(at: number, length: number): number {
    const target = new Uint8Array(this.memory!.buffer, at, length);
    for (let done = 0; done < length; ) {
      const block = createHash("sha256")
        .update(`${this.#given.seed}\n${this.#drawn++}`)
        .digest();
      target.set(block.subarray(0, length - done), done);
      done += block.length;
    }
    // What comes before is for Go's own maps and schedulers.
    if (this.#read > 0) this.usedRandom = true;
    return SUCCESS;
  }

  #readInto(file: number, vectors: number, count: number, at: number): number {
    if (file !== STDIN) return BAD_FILE;
    let read = 0;
    for (const target of this.#buffers(vectors, count)) {
      const part = this.#given.input.subarray(this.#read, this.#read + target.length);
      target.set(part);
      this.#read += part.length;
      read += part.length;
    }
    this.#view.setUint32(at, read, true);
    return SUCCESS;
  }

  #write(file: number, vectors: number, count: number, at: number): number {
    if (file !== STDOUT && file !== STDERR) return BAD_FILE;
    const into = file === STDOUT ? this.output : this.messages;
    let written = 0;
    for (const part of this.#buffers(vectors, count)) {
      into.push(part.slice());
      written += part.length;
    }
    this.#view.setUint32(at, written, true);
    return SUCCESS;
  }

  #buffers(vectors: number, count: number): Uint8Array[] {
    return Array.from({ length: count }, (_, i) => {
      const at = this.#view.getUint32(vectors + i * 8, true);
      return new Uint8Array(this.memory!.buffer, at, this.#view.getUint32(vectors + i * 8 + 4, true));
    });
  }

  #stat(file: number, at: number): number {
    if (file > STDERR) return BAD_FILE;
    new Uint8Array(this.memory!.buffer, at, 24).fill(0);
    this.#view.setUint8(at, CHARACTER_DEVICE);
    // Everything: what is refused is refused at the call.
    this.#view.setBigUint64(at + 8, 0xffff_ffffn, true);
    return SUCCESS;
  }

  /** Waiting takes no time: each subscription is due at once. */
  #poll(subscriptions: number, events: number, count: number, at: number): number {
    for (let i = 0; i < count; i++) {
      const from = subscriptions + i * 48;
      const event = events + i * 32;
      new Uint8Array(this.memory!.buffer, event, 32).fill(0);
      this.#view.setBigUint64(event, this.#view.getBigUint64(from, true), true);
      const type = this.#view.getUint8(from + 8);
      this.#view.setUint8(event + 10, type);
      if (type === 0) this.#monotonic += this.#view.getBigUint64(from + 24, true);
    }
    this.#view.setUint32(at, count, true);
    return SUCCESS;
  }
}

/** The rest of what Go's runtime imports. */
const NEVER_THERE = [
  "fd_filestat_get",
  "fd_filestat_set_size",
  "fd_pread",
  "fd_pwrite",
  "fd_readdir",
  "fd_seek",
  "fd_sync",
  "path_create_directory",
  "path_filestat_get",
  "path_filestat_set_times",
  "path_link",
  "path_open",
  "path_readlink",
  "path_remove_directory",
  "path_rename",
  "path_symlink",
  "path_unlink_file",
  "sock_accept",
  "sock_shutdown",
];

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
