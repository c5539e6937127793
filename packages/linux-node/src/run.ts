import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

/** A command of the machine that failed, with what it printed. */
export class CommandError extends Error {
  override name = "CommandError";
  /** Absent if it could not be started, or was killed. */
  readonly exitCode: number | undefined;

  constructor(message: string, { exitCode, cause }: { exitCode?: number | undefined; cause?: unknown } = {}) {
    super(message, { cause });
    this.exitCode = exitCode;
  }
}

/**
 * Runs a command of the machine to its end and returns what it printed. It is in a separate session: Ctrl-C in a terminal
 * reaches this process, which then removes what it made, and must not kill the commands that do so.
 */
export async function run(command: string, ...args: readonly string[]): Promise<string> {
  const words = [command, ...args].join(" ");
  const child = spawn(command, args, { detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(child, "close").catch((cause: Error) => {
    throw new CommandError(`${words}: ${cause.message}`, { cause });
  });
  const [[exitCode, signal], output, errors] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  if (exitCode === 0) return output;
  const reason = (errors || output).trim() || (signal ? `killed by ${signal}` : `exit code ${exitCode}`);
  throw new CommandError(`${words}: ${reason}`, { exitCode: exitCode ?? undefined });
}

/** Whether a command succeeds. Rejects if it was killed, or could not be started: that is no answer. */
export async function succeeds(command: string, ...args: readonly string[]): Promise<boolean> {
  return run(command, ...args).then(
    () => true,
    (error: unknown) => {
      if (error instanceof CommandError && error.exitCode !== undefined) return false;
      throw error;
    },
  );
}
