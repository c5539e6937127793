import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { RunningProgram } from "@konverge/peers";
import { DIST, tarballOf } from "../release/tarballs.ts";

/** Milliseconds that one command may take on a busy machine. */
const PATIENCE = 600_000;

/** A command that has ended. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A project that is made in an empty folder, with the packed packages alone: nothing of this checkout is found from there. */
export class NewProject implements AsyncDisposable {
  readonly name: string;
  /** What holds the project, and files of the test; it is removed in the end. */
  readonly place = mkdtempSync(join(tmpdir(), "konverge-project-"));
  readonly env: Record<string, string>;
  readonly #programs: RunningProgram[] = [];

  constructor(name: string) {
    this.name = name;
    // Set by the runner of these tests, NODE_TEST_CONTEXT would make the project's tests report to it.
    const { NODE_TEST_CONTEXT: _, KUBECONFIG: __, ...env } = process.env as Record<string, string>;
    const path = [join(this.folder, "node_modules", ".bin"), dirname(process.execPath), env["PATH"]];
    this.env = {
      ...env,
      PATH: path.join(delimiter),
      KONVERGE_HOME: join(this.place, "home"),
      npm_config_loglevel: "error",
      npm_config_prefer_offline: "true",
    };
  }

  get folder(): string {
    return join(this.place, this.name);
  }

  /** `npm create konverge NAME`, with the tarballs in the place of the registry. */
  create(...options: string[]): Promise<string> {
    const packages = ["create-konverge", "konverge"].map((name) => `--package=${tarballOf(name)}`);
    const words = ["create-konverge", this.name, "--packages", resolve(DIST), ...options];
    return this.run("npm", ["exec", "--yes", ...packages, "--", ...words], { cwd: this.place });
  }

  /** Runs a command in the project; fails with what it has printed unless it succeeds. */
  async run(command: string, args: readonly string[], options: { cwd?: string } = {}): Promise<string> {
    const { code, stdout, stderr } = await this.end(command, args, options);
    if (code !== 0) assert.fail(`${command} ${args.join(" ")} ended with ${code}:\n${stdout}${stderr}`);
    return stdout;
  }

  konverge(...args: string[]): Promise<string> {
    return this.run("konverge", args);
  }

  /** Runs a command to its end, whatever that is. */
  end(command: string, args: readonly string[], { cwd = this.folder }: { cwd?: string } = {}): Promise<Ended> {
    return new Promise((ended) => {
      const options = { cwd, env: this.env, encoding: "utf8", timeout: PATIENCE, maxBuffer: 1 << 26 } as const;
      execFile(command, args, options, (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
        ended({ code, stdout, stderr: stderr || (error?.message ?? "") });
      });
    });
  }

  /** Starts a command in the project that goes on until it is stopped. */
  start(command: string, ...args: string[]): RunningProgram {
    const program = new RunningProgram(command, args, { cwd: this.folder, env: this.env });
    this.#programs.push(program);
    return program;
  }

  read(path: string): string {
    return readFileSync(join(this.folder, path), "utf8");
  }

  write(path: string, text: string): void {
    writeFileSync(join(this.folder, path), text);
  }

  /** Changes a file by hand; what is replaced has to be there. */
  edit(path: string, before: string, after: string): void {
    const text = this.read(path);
    assert.ok(text.includes(before), `${path} has no ${before}:\n${text}`);
    this.write(path, text.replace(before, after));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const program of this.#programs) await program.kill();
    rmSync(this.place, { recursive: true, force: true });
  }
}
