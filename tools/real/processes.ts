import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The processes of one cluster, and its temporary folder, neither of which may outlive the process that asked for them.
 *
 * Flow: a small shell (the watchdog) in a separate session reads the process ids from a pipe. When this process ends, by a
 * return, a crash, Ctrl-C or SIGKILL, the pipe closes, and the watchdog kills the remaining processes and removes the folder.
 *
 * Nothing here keeps Node's event loop alive: a test that forgets to stop its cluster still ends.
 */
export class ProcessGroup {
  readonly folder: string;
  readonly #watchdog: ChildProcess;
  readonly #running = new Set<RunningProcess>();

  constructor(folder: string) {
    this.folder = folder;
    mkdirSync(join(folder, "logs"), { recursive: true });
    this.#watchdog = spawn("/bin/sh", ["-c", watchdog, "konverge-watchdog", folder], {
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
    });
    this.#watchdog.unref();
    // A watchdog that was itself killed must not fail the test that is running.
    this.#watchdog.stdin!.on("error", () => {});
    (this.#watchdog.stdin as unknown as { unref(): void }).unref();
  }

  start(name: string, command: string, args: string[], env: Record<string, string> = {}): RunningProcess {
    const logFile = join(this.folder, "logs", `${name}.log`);
    const log = openSync(logFile, "a");
    const child = spawn(command, args, {
      cwd: this.folder,
      stdio: ["ignore", log, log],
      detached: true, // Ctrl-C in a terminal reaches us alone; we decide in which order things end.
      env: { PATH: process.env.PATH ?? "", HOME: this.folder, ...env },
    });
    closeSync(log);
    child.unref();
    const running = new RunningProcess(name, child, logFile);
    this.#running.add(running);
    this.#send("add", child.pid);
    child.once("exit", () => {
      this.#running.delete(running);
      this.#send("drop", child.pid);
    });
    return running;
  }

  /** Kills what runs; the watchdog then removes the folder. Resolves when both are done. */
  async stop(): Promise<void> {
    await Promise.all([...this.#running].map((running) => running.kill()));
    const watchdog = this.#watchdog;
    if (watchdog.exitCode !== null || watchdog.signalCode !== null) return;
    const exited = new Promise<void>((resolve) => watchdog.once("exit", () => resolve()));
    watchdog.ref();
    watchdog.stdin!.end();
    await exited;
  }

  #send(verb: "add" | "drop", pid: number | undefined): void {
    if (pid !== undefined && this.#watchdog.stdin!.writable) this.#watchdog.stdin!.write(`${verb} ${pid}\n`);
  }
}

/** One control-plane process. Its output goes to a file, so that a slow reader can never stall it. */
export class RunningProcess {
  readonly name: string;
  readonly logFile: string;
  readonly pid: number | undefined;
  /** Resolves when the process has exited. */
  readonly exited: Promise<void>;
  readonly #child: ChildProcess;
  #spawnError: Error | undefined;

  constructor(name: string, child: ChildProcess, logFile: string) {
    this.name = name;
    this.logFile = logFile;
    this.pid = child.pid;
    this.#child = child;
    this.exited = new Promise((resolve) => {
      child.once("exit", () => resolve());
      child.once("error", (error) => {
        this.#spawnError = error;
        resolve();
      });
    });
  }

  get alive(): boolean {
    return !this.#spawnError && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** SIGKILL by default: with watches open kube-apiserver takes up to a minute to go politely. */
  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    if (!this.alive) return;
    this.#child.ref();
    this.#child.kill(signal);
    await this.exited;
  }

  /** Why a process that should run does not, with the end of its log. */
  failure(): Error {
    const cause = this.#spawnError?.message ?? `ended with ${this.#child.signalCode ?? this.#child.exitCode}`;
    return new Error(`${this.name} ${cause}\n${this.logTail()}`);
  }

  logTail(): string {
    try {
      return readFileSync(this.logFile, "utf8").slice(-3000);
    } catch {
      return "(no log)";
    }
  }
}

const watchdog = `
trap '' INT TERM HUP
pids=' '
while read -r verb pid; do
  case $verb in
    add) pids="$pids$pid ";;
    drop) case $pids in *" $pid "*) pids="\${pids%% $pid *} \${pids#* $pid }";; esac;;
  esac
done
for pid in $pids; do kill -9 "$pid" 2>/dev/null; done
tries=0
while ! rm -rf "$1" 2>/dev/null && [ $tries -lt 20 ]; do sleep 0.1; tries=$((tries + 1)); done
`;
