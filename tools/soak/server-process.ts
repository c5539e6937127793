import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";

const PROGRAM = new URL("./server.child.ts", import.meta.url).pathname;

/** The server's process: started, killed without warning, started again on the same file. */
export class ServerProcess {
  readonly #folder: string;
  #child: ChildProcess | undefined;
  #said = "";
  /** Times it has been started. */
  starts = 0;
  /** The port of the present process; each has another. */
  port = 0;
  /** The newest revision of the state that the present process found. */
  revision = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** What it complained about: errors of its own. */
  get complaints(): string {
    return this.#said;
  }

  async start(): Promise<void> {
    const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", PROGRAM, this.#folder], {
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...process.env, NODE_COMPILE_CACHE: join(this.#folder, "compiled") },
    });
    this.#child = child;
    child.stdin!.on("error", () => {});
    child.stderr!.setEncoding("utf8").on("data", (text: string) => {
      this.#said += text;
    });
    const line = await new Promise<string>((resolve, reject) => {
      createInterface(child.stdout!).once("line", resolve);
      child.once("exit", (code) => reject(new Error(`the server did not start (${code}): ${this.#said}`)));
    });
    ({ port: this.port, revision: this.revision } = JSON.parse(line) as { port: number; revision: number });
    this.starts++;
  }

  /** SIGKILL: it has no moment to write anything. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.kill("SIGKILL");
    await gone;
  }
}
