import { FileError } from "../file-error.ts";
import { filePieces } from "../file-pieces.ts";
import type { Command, Process } from "../process.ts";
import { pathOf } from "./failing.ts";
import { sizeOf } from "./sizes.ts";

/** Bytes that are one step of work. */
const PER_STEP = 4096;

/** `dd` with `if`, `of`, `bs` and `count`. */
export const dd: Command = async (process) => {
  const given = new Map(process.argv.slice(1).map((word) => word.split("=", 2) as [string, string]));
  const block = sizeOf(given.get("bs") ?? "512");
  const most = given.has("count") ? block * sizeOf(given.get("count")!) : Number.POSITIVE_INFINITY;
  if (Number.isNaN(most) || Number.isNaN(block) || block === 0) {
    process.stderr("dd: invalid number\n");
    return 1;
  }
  const [target, source] = [given.get("of"), given.get("if")];
  const write = sinkOf(process, target);
  let size = 0;
  let failure: string | undefined;
  try {
    write("", false);
    for await (const piece of source === undefined ? process.stdin : filePieces(process, pathOf(process, source))) {
      if (size >= most) break;
      const part = piece.subarray(0, most - size);
      await process.spend(1 + part.length / PER_STEP);
      await write(part, true);
      size += part.length;
      if (size >= most) break;
    }
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    failure = error.code === "ENOSPC" ? `error writing '${target}'` : `can't open '${error.path}'`;
    failure += `: ${error.message}`;
  }
  if (failure !== undefined) process.stderr(`dd: ${failure}\n`);
  const records = `${Math.floor(size / block)}+${size % block === 0 ? 0 : 1} records`;
  process.stderr(`${records} in\n${records} out\n`);
  return failure === undefined ? 0 : 1;
};

function sinkOf(process: Process, target: string | undefined) {
  if (target === undefined) return (data: string | Uint8Array) => process.stdout(data);
  const path = pathOf(process, target);
  return (data: string | Uint8Array, append: boolean) => {
    process.files.write(path, data, { append });
    return undefined;
  };
}
