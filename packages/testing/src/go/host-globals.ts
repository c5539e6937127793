import type { FetchOptions } from "./host-fetch.ts";
import { FetchHeaders } from "./host-fetch.ts";
import { type MemoryFiles, OPEN_FLAGS } from "./memory-files.ts";

/** What the global object of a process acts on. */
export interface GlobalsHost {
  readonly files: MemoryFiles;
  fetch(url: string, options: FetchOptions): unknown;
  write(file: number, bytes: Uint8Array): void;
  random(bytes: Uint8Array): void;
}

/** Go finds its local time zone by it, and nothing else. */
export class UniversalDate {
  getTimezoneOffset(): number {
    return 0;
  }
}

/** The user that containers of operators run as. */
const USER = 65532;

/**
 * The global object that a Go program finds: files, time, randomness and the network are its host's. It has what Go's standard
 * library uses and nothing else of the machine.
 */
export function hostGlobals(host: GlobalsHost): Record<string, unknown> {
  const { files } = host;
  return {
    Object,
    Array,
    Uint8Array,
    Error,
    Headers: FetchHeaders,
    AbortController,
    Date: UniversalDate,
    console: { error: (...words: unknown[]) => host.write(2, new TextEncoder().encode(`${words.join(" ")}\n`)) },
    crypto: { getRandomValues: (bytes: Uint8Array) => host.random(bytes) },
    fetch: (url: string, options: FetchOptions) => host.fetch(url, options),
    fs: fileFunctions(host),
    path: { resolve: (path: string) => files.resolve(path) },
    process: {
      pid: 1,
      ppid: 0,
      getuid: () => USER,
      getgid: () => USER,
      geteuid: () => USER,
      getegid: () => USER,
      getgroups: () => [USER],
      umask: () => 0o022,
      cwd: () => files.working,
      chdir: (path: string) => files.changeFolder(path),
    },
  };
}

type Callback = (error: unknown, result?: unknown) => void;

/** Go calls each with a callback as its last argument, and waits for that. */
function fileFunctions({ files, write }: GlobalsHost): Record<string, unknown> {
  const functions: Record<string, (...given: never[]) => unknown> = {
    open: (path: string, flags: number, mode: number) => files.open(path, flags, mode),
    close: (number: number) => files.close(number),
    read: (number: number, bytes: Uint8Array, offset: number, length: number, position: number | null) =>
      number <= 2 ? 0 : files.readOpen(number, bytes.subarray(offset, offset + length), position),
    write(number: number, bytes: Uint8Array, offset: number, length: number, position: number | null) {
      const written = bytes.subarray(offset, offset + length);
      if (number > 2) return files.writeOpen(number, written, position);
      write(number, written);
      return length;
    },
    stat: (path: string) => files.status(path),
    lstat: (path: string) => files.status(path, false),
    fstat: (number: number) => files.statusOpen(number),
    readdir: (path: string) => files.list(path),
    mkdir: (path: string, mode: number) => files.makeOneFolder(path, mode),
    rename: (from: string, to: string) => files.rename(from, to),
    unlink: (path: string) => files.remove(path, "file"),
    rmdir: (path: string) => files.remove(path, "folder"),
    readlink: (path: string) => files.readLink(path),
    symlink: (target: string, path: string) => files.link(target, path),
    link: (target: string, path: string) => files.link(target, path),
    chmod: (path: string, mode: number) => files.setMode(path, mode),
    fchmod: (number: number, mode: number) => files.setModeOpen(number, mode),
    truncate: (path: string, length: number) => files.truncate(path, length),
    ftruncate: (number: number, length: number) => files.truncateOpen(number, length),
    utimes: (path: string, _accessed: number, changed: number) => files.setTimes(path, changed * 1000),
    // Everything belongs to one user, and is written at once.
    chown: () => undefined,
    fchown: () => undefined,
    lchown: () => undefined,
    fsync: () => undefined,
  };
  const withCallback = Object.entries(functions).map(([name, run]) => [name, calledBack(run as never)]);
  return { ...Object.fromEntries(withCallback), constants: OPEN_FLAGS };
}

/** The file system is memory: what it returns is there at once. */
function calledBack(run: (...given: unknown[]) => unknown): (...given: unknown[]) => void {
  return (...given) => {
    const callback = given.pop() as Callback;
    let result: unknown;
    try {
      result = run(...given);
    } catch (error) {
      // Not the error itself: its stack would keep the process's memory alive.
      const { code = "EIO", message } = error as { code?: string; message: string };
      return callback({ code, message });
    }
    callback(null, result);
  };
}
