import { execFile } from "node:child_process";

/** A command of the machine that failed, with what it printed. */
class CommandError extends Error {
  override name = "CommandError";
}

/** Runs a command of the machine to its end and returns what it printed. */
export function run(command: string, ...args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(command, args, { encoding: "utf8", maxBuffer: 1 << 26 }, (error, output, errors) => {
      if (!error) return resolve(output);
      const said = (errors || output || error.message).trim();
      reject(new CommandError(`${[command, ...args].join(" ")}: ${said}`, { cause: error }));
    });
  });
}

/** Whether a command succeeds. */
export async function succeeds(command: string, ...args: readonly string[]): Promise<boolean> {
  return run(command, ...args).then(
    () => true,
    () => false,
  );
}
