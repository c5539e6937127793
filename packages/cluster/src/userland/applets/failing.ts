import { posix } from "node:path";
import { FileError } from "../file-error.ts";
import type { Process } from "../process.ts";

/** A path as the process means it. */
export function pathOf({ cwd }: Process, name: string): string {
  return posix.resolve(cwd, name);
}

/** Runs an action for each name; reports errors, and continues. */
export async function forEach(
  process: Process,
  names: readonly string[],
  work: (path: string, name: string) => void | Promise<void>,
): Promise<number> {
  let status = 0;
  for (const name of names) {
    const pause = process.spend(2);
    if (pause) await pause;
    try {
      await work(pathOf(process, name), name);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      complain(process, name, error);
      status = 1;
    }
  }
  return status;
}

export function complain({ argv, stderr }: Process, name: string, error: FileError): void {
  const command = (argv[0] ?? "").replace(/^.*\//, "");
  const opening = ["cat", "head", "tail", "wc", "ls", "stat", "grep", "sort"].includes(command) ? "" : "can't open ";
  stderr(`${command}: ${opening === "" ? name : `${opening}'${name}'`}: ${error.message}\n`);
}
