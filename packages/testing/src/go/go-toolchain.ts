import { spawnSync } from "node:child_process";
import { GoProgramError } from "./go-module.ts";

/** The platform that Go compiles for. Cgo cannot be used there: a program that needs it does not compile. */
const PLATFORM = { GOOS: "js", GOARCH: "wasm", CGO_ENABLED: "0" };

/** The output of a command of Go's. */
export interface GoOutput {
  readonly succeeded: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** The user's own Go. */
export class GoToolchain {
  /** Where commands run. */
  readonly folder: string;
  readonly #env: Readonly<Record<string, string>>;

  constructor(folder: string, env: Readonly<Record<string, string>> = {}) {
    this.folder = folder;
    this.#env = env;
  }

  run(...args: string[]): GoOutput {
    const { status, stdout, stderr, error } = spawnSync("go", args, {
      cwd: this.folder,
      env: { ...process.env, ...PLATFORM, ...this.#env },
      encoding: "utf8",
      maxBuffer: 2 ** 28,
    });
    if ((error as NodeJS.ErrnoException | undefined)?.code === "ENOENT") {
      throw new GoProgramError(
        "--go compiles the operator, but there is no Go: install it (https://go.dev/dl), or pass a program that was " +
          "compiled with GOOS=js GOARCH=wasm to --wasm",
      );
    }
    if (error) throw error;
    return { succeeded: status === 0, stdout, stderr };
  }

  /** The output of a command that has to succeed. */
  output(...args: string[]): string {
    const { succeeded, stdout, stderr } = this.run(...args);
    if (!succeeded) throw new GoProgramError(`go ${args.join(" ")} failed:\n${stderr.trim()}`);
    return stdout;
  }
}
