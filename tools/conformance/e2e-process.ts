import { spawn } from "node:child_process";

/** One run of e2e.test. */
export interface E2eRun {
  readonly flags: readonly string[];
  /** The process is killed after this long. */
  readonly limitSeconds: number;
}

/** How it ended; the code is null when it was killed. */
export interface E2eResult {
  readonly code: number | null;
  readonly output: string;
}

/** Specs run for minutes in the worst case and say little; more than this is a runaway. */
const LARGEST_OUTPUT = 64 * 1024 * 1024;

const running = new Set<() => void>();

/** Kills the running processes: an interrupted run leaves none behind. */
export function killE2e(): void {
  for (const kill of running) kill();
}

/** Runs e2e.test in a folder and keeps what it says. */
export function runE2e(path: string, folder: string, { flags, limitSeconds }: E2eRun): Promise<E2eResult> {
  const child = spawn(path, ["--ginkgo.no-color", ...flags], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: limitSeconds * 1000,
    killSignal: "SIGKILL",
    env: { PATH: process.env.PATH ?? "", HOME: folder },
  });
  const kill = () => child.kill("SIGKILL");
  running.add(kill);
  const chunks: Buffer[] = [];
  let size = 0;
  const keep = (chunk: Buffer) => {
    size += chunk.length;
    if (size < LARGEST_OUTPUT) chunks.push(chunk);
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      running.delete(kill);
      resolve({ code, output: Buffer.concat(chunks).toString("utf8") });
    });
  });
}
