import { Input } from "../input.ts";

/** A block of an archive, in bytes. */
const BLOCK = 512;
/** The longest name that fits a header; longer ones have an entry before theirs. */
const LONGEST_NAME = 100;
/** Names and attributes of entries are kept in memory; no path is longer than a few thousand bytes. */
const LARGEST_ATTRIBUTES = 64 * 1024;

/** What an archive says about a file. */
export interface TarEntry {
  readonly name: string;
  readonly kind: "file" | "directory" | "link";
  readonly mode: number;
  readonly size: number;
  /** Where a symbolic link leads. */
  readonly target?: string;
  readonly uid?: number;
  readonly gid?: number;
  /** Seconds since 1970. */
  readonly changedAt?: number;
}

/** The archive is not one, or ends too early. */
export class TarError extends Error {
  override readonly name = "TarError";
}

/** The header of an entry; its content follows, filled up by {@link padding}. */
export function headerOf(entry: TarEntry): Uint8Array {
  const { name, target = "" } = entry;
  return Buffer.concat([
    ...(Buffer.byteLength(target) > LONGEST_NAME ? longText("K", target) : []),
    ...(Buffer.byteLength(name) > LONGEST_NAME ? longText("L", name) : []),
    block(entry, { file: "0", directory: "5", link: "2" }[entry.kind]),
  ]);
}

/** What follows the content of an entry. */
export function padding(size: number): Uint8Array {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
}

/** What follows the last entry. */
export const END = Buffer.alloc(2 * BLOCK);

function longText(type: string, text: string): Uint8Array[] {
  const content = Buffer.from(`${text}\0`);
  const entry: TarEntry = { name: "././@LongLink", kind: "file", mode: 0, size: content.length };
  return [block(entry, type), content, padding(content.length)];
}

function block({ name, mode, size, target = "", uid = 0, gid = 0, changedAt = 0 }: TarEntry, type: string): Buffer {
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, length: number) =>
    header.write(`${value.toString(8).padStart(length - 1, "0")}\0`, at, "latin1");
  Buffer.from(name).copy(header, 0, 0, LONGEST_NAME);
  octal(mode & 0o7777, 100, 8);
  octal(uid, 108, 8);
  octal(gid, 116, 8);
  octal(size, 124, 12);
  octal(changedAt, 136, 12);
  header.write(type, 156, "latin1");
  Buffer.from(target).copy(header, 157, 0, LONGEST_NAME);
  header.write("ustar  \0", 257, "latin1");
  header.write(`${checksum(header).toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return header;
}

/** The sum of a header's bytes, with blanks for the sum itself. */
function checksum(header: Uint8Array): number {
  let sum = 0;
  for (let at = 0; at < BLOCK; at++) sum += at >= 148 && at < 156 ? 32 : header[at]!;
  return sum;
}

/** Reads an archive: entry by entry, each with its content, which must be read before the next. */
export class TarReader {
  readonly #input: Input;
  #left = 0;
  #padding = 0;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#input = Input.of(source);
  }

  /** The next entry; undefined at the end. */
  async next(): Promise<TarEntry | undefined> {
    const said: { path?: string; linkpath?: string } = {};
    for (;;) {
      for await (const _ of this.content());
      await this.#skip(this.#padding);
      this.#padding = 0;
      const header = await this.#take(BLOCK);
      if (!header || header.every((byte) => byte === 0)) return undefined;
      if (numberAt(header, 148, 8) !== checksum(header)) throw new TarError("invalid tar header checksum");
      const size = numberAt(header, 124, 12);
      this.#left = size;
      this.#padding = padding(size).length;
      const type = String.fromCharCode(header[156]!);
      if (type === "L") said.path = textAt(await this.#attributes(size), 0);
      else if (type === "K") said.linkpath = textAt(await this.#attributes(size), 0);
      else if (type === "x") Object.assign(said, recordsOf(await this.#attributes(size)));
      else if (type !== "g") return entryOf(header, size, type, said);
    }
  }

  /** The content of the entry that was read last. */
  async *content(): AsyncGenerator<Uint8Array, void, void> {
    while (this.#left > 0) {
      const piece = await this.#input.next();
      if (!piece) throw new TarError("short read");
      const own = piece.subarray(0, this.#left);
      this.#input.unread(piece.subarray(own.length));
      this.#left -= own.length;
      yield own;
    }
  }

  async #attributes(size: number): Promise<Uint8Array> {
    if (size > LARGEST_ATTRIBUTES) throw new TarError("the name of an entry is too long");
    const content = await this.#take(size);
    if (!content) throw new TarError("short read");
    this.#left = 0;
    return content;
  }

  async #skip(size: number): Promise<void> {
    if (size > 0 && !(await this.#take(size))) throw new TarError("short read");
  }

  /** Reads this many bytes; undefined at the end of the input. */
  async #take(size: number): Promise<Uint8Array | undefined> {
    const pieces: Uint8Array[] = [];
    let left = size;
    while (left > 0) {
      const piece = await this.#input.next();
      if (!piece && left === size) return undefined;
      if (!piece) throw new TarError("short read");
      pieces.push(piece.subarray(0, left));
      this.#input.unread(piece.subarray(left));
      left -= Math.min(left, piece.length);
    }
    return Buffer.concat(pieces);
  }
}

function entryOf(header: Uint8Array, size: number, type: string, said: { path?: string; linkpath?: string }): TarEntry {
  const prefix = textAt(header, 257).startsWith("ustar") && header[262] === 0 ? textAt(header, 345, 155) : "";
  const short = textAt(header, 0, LONGEST_NAME);
  const name = said.path ?? (prefix === "" ? short : `${prefix}/${short}`);
  const mode = numberAt(header, 100, 8);
  if (type === "5" || name.endsWith("/")) return { name, kind: "directory", mode, size };
  if (type === "2")
    return { name, kind: "link", mode, size, target: said.linkpath ?? textAt(header, 157, LONGEST_NAME) };
  return { name, kind: "file", mode, size };
}

function textAt(bytes: Uint8Array, at: number, length = bytes.length - at): string {
  const field = bytes.subarray(at, at + length);
  const end = field.indexOf(0);
  return Buffer.from(end === -1 ? field : field.subarray(0, end)).toString();
}

function numberAt(header: Uint8Array, at: number, length: number): number {
  const value = Number.parseInt(textAt(header, at, length).trim() || "0", 8);
  if (!Number.isSafeInteger(value) || value < 0) throw new TarError("invalid tar header");
  return value;
}

/** `LENGTH KEY=VALUE` lines: names that do not fit a header. */
function recordsOf(content: Uint8Array): { path?: string; linkpath?: string } {
  const records: { path?: string; linkpath?: string } = {};
  for (let rest = Buffer.from(content); rest.length > 0; ) {
    const length = Number.parseInt(rest.toString("latin1", 0, 10), 10);
    if (!(length > 4)) throw new TarError("invalid tar header");
    const [key, ...value] = rest.toString("utf8", String(length).length + 1, length - 1).split("=");
    if (key === "path" || key === "linkpath") records[key] = value.join("=");
    rest = rest.subarray(length);
  }
  return records;
}
