/**
 * Real PostgreSQL servers for tests of what pods run.
 *
 * A {@link MachineRoom} is a folder, an unprivileged user and any number of processes, all removed when it is disposed of.
 * {@link MachineRoom.runContainer} takes a container out of a rendered pod and really runs it: its command, its variables, the
 * scripts of its ConfigMap; only folders, hosts and ports are other ones. {@link withPostgres} declares a test that has a
 * room, and is skipped with the reason where there is no PostgreSQL.
 */
import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import type { PodSpec } from "konverge/kinds";
import { realClock, sleep } from "konverge/time";
import { type ContainerSetting, containerCommand } from "./container-setting.ts";
import { findPostgres, type PostgresTools } from "./postgres-tools.ts";
import { quickPlace, quickPrograms } from "./quick-programs.ts";

export type { ContainerSetting } from "./container-setting.ts";

/** The user `nobody`: servers do not run as root. */
const UNPRIVILEGED = 65534;
const isRoot = process.getuid?.() === 0;

/** The default timeout of anything in a room, in milliseconds. */
const PATIENCE = 60_000;
const clock = realClock();
/** Milliseconds after a process's end for which its output is waited for. */
const OUTPUT_TIMEOUT = 2_000;

/** A process of a room. */
export interface RunningProcess {
  readonly pid: number;
  /** What it has said so far. */
  readonly output: () => string;
  /** Resolves to its exit code; what a signal ended counts as 128 and the signal's number, as in a shell. */
  readonly exited: Promise<number>;
  /** To the process alone, as a kubelet does. */
  kill(signal?: NodeJS.Signals): void;
}

/** A container's process. */
export interface RunningContainer extends RunningProcess {
  /** Its termination message. */
  report(): string;
}

/** What a process that has ended said. */
export interface Ended {
  readonly code: number;
  readonly output: string;
}

/** What was waited for did not come in time. */
export class InVain extends Error {
  override readonly name = "InVain";
}

/** Rooms in use. Processes of a room do not end with the one that has started them, unless it sees to that. */
const rooms = new Set<MachineRoom>();
process.on("exit", () => {
  for (const room of rooms) room.abandon();
});
for (const [signal, code] of [
  ["SIGTERM", 143],
  ["SIGINT", 130],
] as const)
  process.once(signal, () => process.exit(code));

/** A folder, a user and processes. */
export class MachineRoom implements AsyncDisposable {
  readonly #tools: PostgresTools;
  readonly #processes = new Set<ChildProcess>();
  readonly root: string;
  /** Milliseconds that anything here may take. */
  readonly patience: number;
  #made = 0;

  constructor(tools: PostgresTools, { patience = PATIENCE }: { readonly patience?: number } = {}) {
    this.#tools = tools;
    this.patience = patience;
    this.root = mkdtempSync(join(quickPlace(), "konverge-postgres-"));
    rooms.add(this);
    this.#give(this.root);
  }

  /** A new folder that the room's user may write to. */
  folder(name: string): string {
    const path = join(this.root, `${++this.#made}-${name}`);
    mkdirSync(path, { mode: 0o700 });
    this.#give(path);
    return path;
  }

  /** A file with a text, readable for the room's user. */
  file(path: string, text: string): void {
    writeFileSync(path, text);
    this.#give(path);
  }

  /** A port on loopback that is free now. */
  async freePort(): Promise<number> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    await new Promise((resolve) => server.close(resolve));
    if (address === null || typeof address === "string") throw new Error("there is no free port");
    return address.port;
  }

  /** Starts a program as the room's user, with no variables but these. */
  start(words: readonly string[], env: Readonly<Record<string, string>> = {}): RunningProcess {
    const { bin, libraries } = this.#tools;
    const [command = "", ...args] = words;
    const child = spawn(command, args, {
      cwd: this.root,
      env: {
        PATH: `${quickPrograms(bin)}:${bin}:/usr/local/bin:/usr/bin:/bin`,
        HOME: this.root,
        TMPDIR: this.root,
        TZ: "UTC",
        LC_ALL: "C.UTF-8",
        ...(libraries && { LD_LIBRARY_PATH: libraries }),
        ...env,
      },
      stdio: ["ignore", "pipe", "pipe"],
      // A separate process group, so that orphans can be found.
      detached: true,
      ...(isRoot && { uid: UNPRIVILEGED, gid: UNPRIVILEGED }),
    });
    this.#processes.add(child);
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
    }
    const exited = new Promise<number>((resolve) => {
      child.on("error", (error) => {
        output += `${error.message}\n`;
        resolve(127);
      });
      // Its remaining output is read first; orphaned processes may hold the output open for longer.
      child.on("exit", (code, signal) => {
        const exited = () => resolve(code ?? 128 + (signal === "SIGKILL" ? 9 : 15));
        child.once("close", exited);
        clock.after(OUTPUT_TIMEOUT, exited);
      });
    });
    return {
      pid: child.pid ?? 0,
      output: () => output,
      exited,
      kill: (signal = "SIGTERM") => void child.kill(signal),
    };
  }

  /** Runs a program to its end. What takes too long is killed: it was waited for in vain. */
  async run(words: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended> {
    return this.#ended(this.start(words, env), words[0] ?? "");
  }

  /** Starts a container of a rendered pod. */
  startContainer(pod: PodSpec, name: string, setting: ContainerSetting = {}): RunningContainer {
    const work = this.folder(name);
    const { words, env, report } = containerCommand(pod, name, setting, work);
    this.#give(report);
    return { ...this.start(words, env), report: () => readFileSync(report, "utf8") };
  }

  /** Runs a container of a rendered pod to its end. */
  async runContainer(
    pod: PodSpec,
    name: string,
    setting: ContainerSetting = {},
  ): Promise<Ended & { readonly report: string }> {
    const running = this.startContainer(pod, name, setting);
    const ended = await this.#ended(running, `the container ${name}`);
    return { ...ended, report: running.report() };
  }

  /**
   * A fresh server's data in a new folder, whose administrator `postgres` has this password; connections from everywhere
   * need one, also those for replication.
   */
  async newData(password: string): Promise<string> {
    const data = join(this.folder("data"), "pgdata");
    const key = this.folder("password");
    const file = join(key, "password");
    this.file(file, password);
    const { code, output } = await this.run([
      ...["initdb", "-D", data, "-U", "postgres", `--pwfile=${file}`, "--auth=scram-sha-256", "--no-sync"],
      ...["--encoding=UTF8", "--no-locale", "--data-checksums"],
    ]);
    assert.equal(code, 0, output);
    return data;
  }

  /** Starts a server on a folder and waits until it answers. */
  async startServer(
    data: string,
    settings: Readonly<Record<string, string>> = {},
    env: Readonly<Record<string, string>> = {},
    address: { readonly host?: string; readonly port?: number } = {},
  ): Promise<RunningServer> {
    const { host = "127.0.0.1", port = await this.freePort() } = address;
    const sockets = this.folder("s");
    const all = { ...QUICK, listen_addresses: host, unix_socket_directories: sockets, ...settings };
    const flags = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const process = this.start(["postgres", "-D", data, "-p", String(port), ...flags], { PGDATA: data, ...env });
    const server = { ...process, port, data };
    await this.until(`the server on ${data} answers`, async () => {
      const exitCode = await Promise.race([process.exited, Promise.resolve(undefined)]);
      if (exitCode !== undefined) throw new Error(`the server ended with ${exitCode}:\n${process.output()}`);
      return (await this.run(["pg_isready", "-q", "-h", host, "-p", String(port)])).code === 0;
    });
    return server;
  }

  /** Ends a server in good order. */
  async stopServer(server: RunningServer): Promise<void> {
    server.kill("SIGINT");
    assert.equal(await server.exited, 0, server.output());
  }

  /** What a query answers, one row per line, columns with | between them. */
  async query(port: number, password: string, sql: string, database = "postgres", user = "postgres"): Promise<string> {
    const { code, output } = await this.run(
      ["psql", "-h", "127.0.0.1", "-p", String(port), "-U", user, "-d", database, "-XAtq", "-c", sql],
      { PGPASSWORD: password, PGCONNECT_TIMEOUT: "10" },
    );
    assert.equal(code, 0, output);
    return output.trim();
  }

  /** Asks until it is so. */
  async until(what: string, condition: () => Promise<boolean> | boolean): Promise<void> {
    const deadline = clock.monotonic() + this.patience;
    while (!(await condition())) {
      if (clock.monotonic() > deadline) throw new InVain(`waited in vain: ${what}`);
      await sleep(clock, 50);
    }
  }

  /** A folder gets all that another has. */
  fill(folder: string, from: string): void {
    assert.equal(spawnSync("cp", ["-a", `${from}/.`, folder]).status, 0);
  }

  /** Takes folders away before the end, where there would be too many. */
  remove(...folders: readonly string[]): void {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }

  /** A folder, and all that is in it, belongs to the room's user. */
  own(folder: string): void {
    if (isRoot) assert.equal(spawnSync("chown", ["-R", `${UNPRIVILEGED}:${UNPRIVILEGED}`, folder]).status, 0);
  }

  /** Programs that stand before the real ones, by name: a PATH for a task. The real ones are at $REAL. */
  pretend(programs: Readonly<Record<string, string>>): Record<string, string> {
    const folder = this.folder("programs");
    for (const [name, text] of Object.entries(programs)) {
      writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    }
    return { REAL: this.#tools.bin, PATH: `${folder}:${this.#tools.bin}:/usr/local/bin:/usr/bin:/bin` };
  }

  /** Takes all away at once: the process ends. */
  abandon(): void {
    rooms.delete(this);
    this.#signal("SIGKILL");
    try {
      // Processes that are ending may still write.
      rmSync(this.root, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    } catch {
      // Other rooms must still be cleaned up.
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    rooms.delete(this);
    // Servers that are asked to end at once take their shared memory with them.
    const left = this.#signal("SIGQUIT");
    if (left.length > 0) await Promise.race([Promise.all(left.map(over)), sleep(clock, 3_000)]);
    await Promise.all(this.#signal("SIGKILL").map(over));
    rmSync(this.root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }

  /** Sends a signal to all processes and what they have started; returns those that were not over. */
  #signal(signal: NodeJS.Signals): ChildProcess[] {
    for (const { pid } of this.#processes) {
      try {
        if (pid !== undefined) process.kill(-pid, signal);
      } catch {
        // The group has ended.
      }
    }
    return [...this.#processes].filter(
      ({ pid, exitCode, signalCode }) => pid !== undefined && exitCode === null && signalCode === null,
    );
  }

  async #ended(running: RunningProcess, what: string): Promise<Ended> {
    let isLate = false;
    const late = clock.after(this.patience, () => {
      isLate = true;
      process.kill(-running.pid, "SIGKILL");
    });
    const code = await running.exited;
    late.cancel();
    if (isLate) throw new InVain(`waited in vain: ${what} ends; it has said:\n${running.output().slice(-3000)}`);
    return { code, output: running.output() };
  }

  #give(path: string): void {
    if (isRoot) chownSync(path, UNPRIVILEGED, UNPRIVILEGED);
  }
}

const over = (child: ChildProcess) => new Promise<void>((resolve) => child.once("exit", () => resolve()));

/** A server that answers. */
export interface RunningServer extends RunningProcess {
  readonly port: number;
  readonly data: string;
}

/** Tests' data need not outlive a power cut. */
const QUICK = { fsync: "off", shared_buffers: "16MB", max_connections: "20", dynamic_shared_memory_type: "mmap" };

/** Declares a test with a new room; skipped, with the reason, without PostgreSQL or another requirement. */
export function withPostgres(
  name: string,
  run: (room: MachineRoom) => Promise<void>,
  options: { readonly patience?: number; readonly skip?: string } = {},
): void {
  const tools = findPostgres();
  test(name, { skip: "why" in tools ? tools.why : (options.skip ?? false) }, async () => {
    assert.ok("bin" in tools);
    await using room = new MachineRoom(tools, options);
    await run(room);
  });
}
