import { posix } from "node:path";
import { FileError } from "../file-error.ts";
import { filePieces } from "../file-pieces.ts";
import type { Command, Process } from "../process.ts";
import { argumentsOf } from "./arguments.ts";
import { complain, pathOf } from "./failing.ts";
import { END, headerOf, padding, TarError, TarReader } from "./tar-format.ts";

/** `tar c|x|t [-v] [-f FILE] [-C FOLDER] [NAME…]`, with which `kubectl cp` copies. */
export const tar: Command = async (process) => {
  const [, first = "", ...rest] = process.argv;
  // The first word may do without its dash.
  const words = first.startsWith("-") ? [first, ...rest] : [`-${first}`, ...rest];
  const { flags, operands } = argumentsOf(words, ["f", "C", "file", "directory"]);
  const within = pathOf(process, flags.get("C") ?? flags.get("directory") ?? ".");
  const archive = flags.get("f") ?? flags.get("file") ?? "-";
  if (flags.has("z") || flags.has("j") || flags.has("J")) return failed(process, "compression is not simulated");
  try {
    if (flags.has("c") || flags.has("create")) return await create(process, archive, within, operands, flags.has("v"));
    const source = archive === "-" ? process.stdin : streamOf(filePieces(process, pathOf(process, archive)));
    if (flags.has("t") || flags.has("list")) return await list(process, source);
    if (flags.has("x") || flags.has("extract")) return await extract(process, source, within, operands, flags.has("v"));
    return failed(process, "must specify one of: -c -x -t");
  } catch (error) {
    if (error instanceof TarError || error instanceof FileError) return failed(process, error.message);
    throw error;
  }
};

async function create(
  process: Process,
  archive: string,
  within: string,
  names: readonly string[],
  isVerbose: boolean,
): Promise<number> {
  const { files, spend } = process;
  if (names.length === 0) return failed(process, "cowardly refusing to create an empty archive");
  const target = archive === "-" ? undefined : pathOf(process, archive);
  if (target) files.write(target, "");
  const write = async (bytes: Uint8Array) =>
    target ? files.write(target, bytes, { append: true }) : await process.stdout(bytes);
  let status = 0;
  const add = async (path: string, name: string): Promise<void> => {
    await spend(2);
    const { kind, mode, uid, gid, size, changedAt } = files.stat(path, { follow: false });
    const about = { mode, uid, gid, changedAt: Math.floor(changedAt / 1000) };
    if (isVerbose) (target ? process.stdout : process.stderr)(`${name}\n`);
    if (kind === "link") {
      await write(headerOf({ ...about, name, kind, size: 0, target: files.linkTarget(path) }));
    } else if (kind === "directory") {
      await write(headerOf({ ...about, name: `${name.replace(/\/$/, "")}/`, kind, size: 0 }));
      for (const child of files.list(path)) await add(posix.join(path, child), posix.join(name, child));
    } else if (kind === "file") {
      const pieces = filePieces(process, path);
      await write(headerOf({ ...about, name, kind, size }));
      for (const piece of pieces) {
        await spend(piece.length / 4096);
        await write(piece);
      }
      await write(padding(size));
    }
  };
  if (names.some((name) => name.startsWith("/"))) process.stderr("tar: removing leading '/' from member names\n");
  for (const name of names) {
    try {
      await add(posix.resolve(within, name), name.replace(/^\/+/, "") || ".");
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      process.stderr(`tar: ${name}: ${error.message}\n`);
      status = 1;
    }
  }
  await write(END);
  if (status !== 0) process.stderr("tar: error exit delayed from previous errors\n");
  return status;
}

async function list(process: Process, source: AsyncIterable<Uint8Array>): Promise<number> {
  const reader = new TarReader(source);
  for (let entry = await reader.next(); entry; entry = await reader.next()) await process.stdout(`${entry.name}\n`);
  return 0;
}

async function extract(
  process: Process,
  source: AsyncIterable<Uint8Array>,
  within: string,
  wanted: readonly string[],
  isVerbose: boolean,
): Promise<number> {
  const { files, spend } = process;
  const reader = new TarReader(source);
  const isWanted = (name: string) =>
    wanted.length === 0 || wanted.some((one) => name === one || name.startsWith(`${one.replace(/\/$/, "")}/`));
  let status = 0;
  for (let entry = await reader.next(); entry; entry = await reader.next()) {
    await spend(2);
    const name = entry.name.replace(/^\/+/, "").replace(/\/$/, "");
    if (name.split("/").includes("..")) return failed(process, `name with '..' skipped: '${entry.name}'`);
    if (!isWanted(name)) continue;
    const path = posix.join(within, name);
    if (isVerbose) await process.stdout(`${entry.name}\n`);
    try {
      files.makeDirectory(entry.kind === "directory" ? path : posix.dirname(path), { parents: true });
      if (entry.kind === "link") {
        files.link(entry.target ?? "", path);
        continue;
      }
      if (entry.kind === "file") {
        files.write(path, "");
        for await (const piece of reader.content()) {
          await spend(piece.length / 4096);
          files.write(path, piece, { append: true });
        }
      }
      files.setMode(path, entry.mode & 0o777);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      complain(process, name, error);
      status = 1;
    }
  }
  return status;
}

function failed({ stderr }: Process, message: string): number {
  stderr(`tar: ${message}\n`);
  return 1;
}

async function* streamOf(pieces: Iterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  yield* pieces;
}
