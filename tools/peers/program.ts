import { type ChildProcess, spawn } from "node:child_process";

/** A peer's process. It never outlives the test. */
export class RunningProgram implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number>;
  #output = "";

  constructor(command: string, args: readonly string[], options: { env: Record<string, string>; cwd: string }) {
    this.#child = spawn(command, [...args], { ...options, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        this.#output += text;
      });
    }
    this.#ended = new Promise((resolve) => {
      this.#child.once("close", (code) => resolve(code ?? -1));
      this.#child.once("error", (error) => {
        this.#output += String(error);
        resolve(-1);
      });
    });
    const kill = () => this.#child.kill("SIGKILL");
    process.once("exit", kill);
    this.#ended.then(() => process.off("exit", kill));
  }

  /** All it has printed. */
  get output(): string {
    return this.#output;
  }

  get alive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Resolves to its exit code when it has ended; -1 if it was killed or never ran. */
  get ended(): Promise<number> {
    return this.#ended;
  }

  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<number> {
    if (this.alive) this.#child.kill(signal);
    return this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}
