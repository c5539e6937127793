import childProcess, { ChildProcess } from "node:child_process";
import dgram from "node:dgram";
import dns from "node:dns";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { Socket } from "node:net";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** A use of the file system. */
export interface FileUse {
  /** The function of node:fs: `writeFile`, `mkdirSync`, `open for writing`. */
  readonly operation: string;
  readonly path: string;
}

/** What this process does to its machine while it is recorded. */
export interface MachineUse extends Disposable {
  readonly files: FileUse[];
  /** `host:port` of every connection that was tried, or the path of a local socket. */
  readonly connections: string[];
  /** Programs that were started. */
  readonly processes: string[];
  /** Names that were looked up, and datagrams that were sent. */
  readonly network: string[];
}

type AnyFunction = (...args: unknown[]) => unknown;

/**
 * Records what this process does to its machine: files that are named, connections that are tried, processes that are
 * started. The functions of Node.js are wrapped, for all modules that import them, until it is disposed of. What works
 * on open files is not recorded: they were opened by name before.
 */
export function recordMachineUse(): MachineUse {
  const undo: (() => void)[] = [];
  const replace = (target: object, name: string, make: (original: AnyFunction) => AnyFunction) => {
    const holder = target as Record<string, AnyFunction>;
    const original = holder[name]!;
    holder[name] = Object.assign(make(original), original);
    undo.push(() => {
      holder[name] = original;
    });
  };
  const use: Omit<MachineUse, typeof Symbol.dispose> = { files: [], connections: [], processes: [], network: [] };

  const wrapFiles = (module: object) => {
    for (const [name, value] of Object.entries(module)) {
      if (typeof value !== "function" || !/^[a-z]/.test(name)) continue;
      replace(module, name, (original) => {
        return function (this: unknown, ...args: unknown[]) {
          const operation = name.startsWith("open") && opensForWriting(args[1]) ? `${name} for writing` : name;
          for (const path of pathsIn(name, args)) use.files.push({ operation, path });
          return original.apply(this, args);
        };
      });
    }
  };
  wrapFiles(fs);
  wrapFiles(fs.promises);
  replace(Socket.prototype, "connect", (original) => {
    return function (this: unknown, ...args: unknown[]) {
      use.connections.push(targetIn(args));
      return original.apply(this, args);
    };
  });
  replace(ChildProcess.prototype, "spawn", (original) => {
    return function (this: unknown, ...args: unknown[]) {
      use.processes.push(String((args[0] as { file?: string }).file));
      return original.apply(this, args);
    };
  });
  for (const name of ["spawnSync", "execSync", "execFileSync"]) {
    replace(childProcess, name, (original) => (...args) => {
      use.processes.push(String(args[0]));
      return original(...args);
    });
  }
  for (const name of ["lookup", "resolve", "resolve4", "resolve6"]) {
    replace(dns, name, (original) => (...args) => {
      use.network.push(`${name} ${String(args[0])}`);
      return original(...args);
    });
  }
  replace(dgram.Socket.prototype, "send", (original) => {
    return function (this: unknown, ...args: unknown[]) {
      use.network.push("datagram");
      return original.apply(this, args);
    };
  });
  syncBuiltinESMExports();
  return {
    ...use,
    [Symbol.dispose]() {
      for (const one of undo.reverse()) one();
      syncBuiltinESMExports();
    },
  };
}

/** The first argument of most functions; of those that copy, link or rename, the second as well. */
function pathsIn(name: string, args: readonly unknown[]): string[] {
  return args.slice(0, /^(rename|link|symlink|copyFile|cp)/.test(name) ? 2 : 1).flatMap((value) => {
    if (typeof value === "string") return [resolve(value)];
    if (value instanceof URL && value.protocol === "file:") return [fileURLToPath(value)];
    return Buffer.isBuffer(value) ? [resolve(value.toString())] : [];
  });
}

function opensForWriting(flags: unknown): boolean {
  if (typeof flags === "number")
    return (flags & (fs.constants.O_WRONLY | fs.constants.O_RDWR | fs.constants.O_CREAT)) !== 0;
  return typeof flags === "string" && flags !== "r";
}

/** Whether something was changed by it. */
export function isWrite({ operation }: FileUse): boolean {
  return WRITES.test(operation);
}

const WRITES =
  /for writing$|^(write|append|mkdir|mkdtemp|rename|rm|rmdir|unlink|link|symlink|truncate|l?ch(mod|own)|cp|copy|l?utimes|createWriteStream)/;

/** As `net.connect` reads its arguments, which may come as one list. */
function targetIn(args: readonly unknown[]): string {
  const [first, second] = (Array.isArray(args[0]) ? args[0] : args) as unknown[];
  if (typeof first === "number") return `${typeof second === "string" ? second : "localhost"}:${first}`;
  if (typeof first === "string") return first;
  const { host = "localhost", port, path } = first as { host?: string; port?: number; path?: string };
  return path ?? `${host}:${port}`;
}
