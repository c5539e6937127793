import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

/** A command as a separate process, and what it printed. */
export class StartedCommand {
  readonly #child: ChildProcess;
  #output = "";

  constructor(
    [program, ...words]: readonly [string, ...string[]] | readonly string[],
    env: Record<string, string> = {},
  ) {
    this.#child = spawn(program!, words, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
    for (const stream of [this.#child.stdout!, this.#child.stderr!])
      stream.setEncoding("utf8").on("data", (text: string) => {
        this.#output += text;
      });
  }

  /** Resolves when it has printed something that matches. */
  async prints(pattern: RegExp): Promise<RegExpExecArray> {
    const ended = once(this.#child, "exit");
    for (;;) {
      const found = pattern.exec(this.#output);
      if (found) return found;
      if (this.#child.exitCode !== null) throw new Error(`it ended without printing ${pattern}: ${this.#output}`);
      await Promise.race([once(this.#child.stdout!, "data"), once(this.#child.stderr!, "data"), ended]);
    }
  }

  /** Ends it. Resolves to its exit code. */
  async stop(): Promise<number | null> {
    if (this.#child.exitCode !== null) return this.#child.exitCode;
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    const [code] = (await ended) as [number | null];
    return code;
  }
}
