import { type ChildProcess, spawn } from "node:child_process";

/** How a program is started. */
export interface ProgramOptions {
  /** A command of the shell. */
  readonly command: string;
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** How one process of the program ended. */
export interface ProgramExit {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The last it printed. */
  readonly output: string;
}

/** What is kept of what a process prints. */
const OUTPUT_CHARACTERS = 64 * 1024;

/** All that run. */
const running = new Set<ProgramProcess>();
process.once("exit", () => {
  for (const program of running) program.kill();
});

/** One process of the explored program, with all that it started. It does not outlive this process. */
export class ProgramProcess {
  readonly #child: ChildProcess;
  /** Resolves when the process is gone. */
  readonly ended: Promise<ProgramExit>;
  #output = "";
  #isGone = false;

  constructor({ command, folder, env }: ProgramOptions) {
    // A separate process group: everything that the command starts is killed with it.
    this.#child = spawn("sh", ["-c", command], { cwd: folder, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        this.#output = (this.#output + text).slice(-OUTPUT_CHARACTERS);
      });
    }
    running.add(this);
    this.ended = new Promise<ProgramExit>((resolve) => {
      const end = (code: number | null, signal: NodeJS.Signals | null) => {
        this.#isGone = true;
        resolve({ code, signal, output: this.#output });
      };
      this.#child.once("close", end);
      this.#child.once("error", (error) => {
        this.#output += String(error);
        end(127, null);
      });
    }).finally(() => running.delete(this));
  }

  get output(): string {
    return this.#output;
  }

  /** As `kill -9`: it does nothing any more from now on. */
  kill(): void {
    const { pid } = this.#child;
    if (pid === undefined || this.#isGone) return;
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // It ended at this very moment.
    }
  }
}
