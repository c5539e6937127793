import { accessSync, constants, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { UsageError } from "./usage-error.ts";

/**
 * Creates a folder and its parents unless they exist; throws at once if it cannot be used. `what` names it in the
 * message: `--data /var/lib/konverge`.
 *
 * One folder at a time: Node's own recursive way never returns where the system says that a folder cannot be made in
 * one that exists, as under /proc.
 */
export function makeFolder(path: string, what: string, mode = 0o777): void {
  try {
    make(path, mode);
    accessSync(path, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw unusable(what, error);
  }
}

/** What is wrong with a file or a folder that a user named, and what to do. */
export function unusable(what: string, error: unknown): UsageError {
  const { code, path, message } = error as NodeJS.ErrnoException;
  const why = WHY[code ?? ""];
  const reason = why ? `${path ? `${path} ` : "it "}${why}` : message;
  return new UsageError(`${what} cannot be used: ${reason}. Choose a folder that you can write to.`, { cause: error });
}

const WHY: Readonly<Record<string, string>> = {
  EACCES: "is not writable for you",
  EPERM: "is not writable for you",
  EROFS: "is on a file system that is read-only",
  ENOTDIR: "is not a folder, or one above it is not",
  EEXIST: "is not a folder",
  EISDIR: "is a folder",
  ENOENT: "cannot be created there",
  ENOSPC: "has no space left: the disk is full",
  EDQUOT: "has no space left: your quota is exceeded",
  ENAMETOOLONG: "has a name that is too long",
  ELOOP: "is a symbolic link to itself",
};

function make(path: string, mode: number): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) return;
  if (found) throw Object.assign(new Error("a file"), { code: "EEXIST", path });
  const above = dirname(path);
  if (above !== path) make(above, 0o777);
  mkdirSync(path, { mode });
}
