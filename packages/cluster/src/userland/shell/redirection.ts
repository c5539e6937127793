import { posix } from "node:path";
import { FileError, WriteError } from "../file-error.ts";
import { filePieces } from "../file-pieces.ts";
import { Input, piecesOf } from "../input.ts";
import type { Holding } from "../limits/memory.ts";
import type { Process, Streams } from "../process.ts";
import { type ExpansionScope, expandText } from "./expansion.ts";
import type { Redirection } from "./syntax.ts";

/** Bytes written to a file that are one step of work. */
const PER_WRITTEN = 4096;

/** A shell, as far as redirections are concerned. */
export interface RedirectionScope extends ExpansionScope {
  readonly process: Process;
}

/** The streams after a redirection. `held` counts what it keeps in memory. Throws a {@link FileError}. */
export async function redirected(
  scope: RedirectionScope,
  { descriptor, operator, target }: Redirection,
  io: Streams,
  held: Holding,
): Promise<Streams> {
  const text = await expandText(scope, target);
  if (operator === "<<" || operator === "<<<") {
    held.hold(text.length);
    const content = Buffer.from(operator === "<<" ? text : `${text}\n`);
    return { ...io, stdin: new Input(piecesOf(content)) };
  }
  if (operator === "<") return { ...io, stdin: new Input(filePieces(scope.process, posix.resolve(scope.cwd, text))) };
  if (operator === "<&") return io;
  const sink = operator === ">&" && /^[12-]$/.test(text) ? streamOf(io, text) : fileSink(scope, text, operator, io);
  if (operator === "&>" || (operator === ">&" && !/^[12-]$/.test(text))) return { ...io, stdout: sink, stderr: sink };
  return descriptor === 2 ? { ...io, stderr: sink } : { ...io, stdout: sink };
}

function streamOf({ stdout, stderr }: Streams, name: string): Streams["stdout"] {
  return name === "1" ? stdout : name === "2" ? stderr : () => {};
}

function fileSink(scope: RedirectionScope, name: string, operator: string, io: Streams): Streams["stdout"] {
  const path = posix.resolve(scope.cwd, name);
  if (path === "/dev/stdout" || path === "/proc/self/fd/1") return io.stdout;
  if (path === "/dev/stderr" || path === "/proc/self/fd/2") return io.stderr;
  if (path === "/proc/1/fd/1" || path === "/proc/1/fd/2") return (data) => scope.process.log(data);
  scope.files.write(path, "", { append: operator === ">>" });
  return (data) => {
    try {
      scope.files.write(path, data, { append: true });
    } catch (error) {
      throw error instanceof FileError ? new WriteError(error) : error;
    }
    return scope.spend(1 + data.length / PER_WRITTEN);
  };
}
