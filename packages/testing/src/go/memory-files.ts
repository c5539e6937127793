import { posix } from "node:path";

/** An error of the file system, as Go's js port recognizes it. */
export class FileError extends Error {
  override readonly name = "FileError";
  readonly code: string;

  constructor(code: string, path: string) {
    super(`${code}: ${path}`);
    this.code = code;
  }
}

interface Node {
  /** Tells files apart: two with the same number are one. */
  readonly number: number;
  mode: number;
  /** Milliseconds since 1970. */
  changed: number;
}

interface Folder extends Node {
  readonly type: "folder";
  readonly entries: Map<string, FileNode>;
}

interface PlainFile extends Node {
  readonly type: "file";
  bytes: Uint8Array;
}

interface Link extends Node {
  readonly type: "link";
  readonly target: string;
}

type FileNode = Folder | PlainFile | Link;

/** An open file or folder. */
interface OpenFile {
  readonly path: string;
  readonly node: FileNode;
  position: number;
  readonly appends: boolean;
}

/** What is known of a file: what Go reads of a `stat`. */
export class FileStatus {
  readonly dev = 1;
  readonly nlink = 1;
  readonly uid = 0;
  readonly gid = 0;
  readonly rdev = 0;
  readonly blksize = 4096;
  readonly ino: number;
  readonly mode: number;
  readonly size: number;
  readonly blocks: number;
  readonly atimeMs: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;

  constructor({ number, mode, size, changed }: { number: number; mode: number; size: number; changed: number }) {
    this.ino = number;
    this.mode = mode;
    this.size = size;
    this.blocks = Math.ceil(size / 512);
    this.atimeMs = this.mtimeMs = this.ctimeMs = changed;
  }

  isDirectory(): boolean {
    return (this.mode & TYPE_BITS.folder) !== 0 && (this.mode & TYPE_BITS.file) === 0;
  }
}

/** Flags of `open`, with Linux' numbers. */
export const OPEN_FLAGS = {
  O_RDONLY: 0,
  O_WRONLY: 0o1,
  O_RDWR: 0o2,
  O_CREAT: 0o100,
  O_EXCL: 0o200,
  O_TRUNC: 0o1000,
  O_APPEND: 0o2000,
  O_DIRECTORY: 0o200000,
} as const;

const TYPE_BITS = { folder: 0o040000, file: 0o100000, link: 0o120000 } as const;
const MOST_LINKS = 40;
const TERMINAL = new FileStatus({ number: 0, mode: 0o020620, size: 0, changed: 0 });

/**
 * The files of one process, in memory: what it is given, and what it writes. It sees no file of the machine, so that a run
 * depends on nothing but what it was started with.
 */
export class MemoryFiles {
  readonly #root: Folder;
  readonly #now: () => number;
  readonly #open = new Map<number, OpenFile>();
  #working = "/";
  #made = 0;

  constructor(now: () => number, files: Readonly<Record<string, string | Uint8Array>> = {}) {
    this.#now = now;
    this.#root = this.#folder(0o755);
    this.makeFolder("/tmp", 0o777);
    for (const [path, content] of Object.entries(files)) {
      this.makeFolder(posix.dirname(path));
      this.write(path, typeof content === "string" ? new TextEncoder().encode(content) : content);
    }
  }

  get working(): string {
    return this.#working;
  }

  /** The same files, for a process that continues where this one is; open files cannot be copied. */
  copy(now: () => number): MemoryFiles | undefined {
    if (this.#open.size > 0) return undefined;
    const copy = new MemoryFiles(now);
    copy.#root.entries.clear();
    for (const [name, node] of this.#root.entries) copy.#root.entries.set(name, copied(node));
    copy.#working = this.#working;
    copy.#made = this.#made;
    return copy;
  }

  resolve(path: string): string {
    return posix.resolve(this.#working, path);
  }

  changeFolder(path: string): void {
    if (this.#find(path).type !== "folder") throw new FileError("ENOTDIR", path);
    this.#working = this.resolve(path);
  }

  /** With all folders on the way. */
  makeFolder(path: string, mode = 0o755): void {
    let folder = this.#root;
    for (const name of this.resolve(path).split("/").filter(Boolean)) {
      const next: FileNode = folder.entries.get(name) ?? this.#folder(mode);
      if (next.type !== "folder") throw new FileError("ENOTDIR", path);
      folder.entries.set(name, next);
      folder = next;
    }
  }

  write(path: string, bytes: Uint8Array, mode = 0o644): void {
    const { folder, name } = this.#place(path);
    folder.entries.set(name, { type: "file", bytes, ...this.#node(mode) });
  }

  open(path: string, flags: number, mode: number): number {
    const isNew = !this.#exists(path);
    if (isNew && !(flags & OPEN_FLAGS.O_CREAT)) throw new FileError("ENOENT", path);
    if (!isNew && flags & OPEN_FLAGS.O_CREAT && flags & OPEN_FLAGS.O_EXCL) throw new FileError("EEXIST", path);
    if (isNew) this.write(path, new Uint8Array(), mode);
    const node = this.#find(path);
    const writes = (flags & (OPEN_FLAGS.O_WRONLY | OPEN_FLAGS.O_RDWR)) !== 0;
    if (node.type === "folder" && writes) throw new FileError("EISDIR", path);
    if (node.type !== "folder" && flags & OPEN_FLAGS.O_DIRECTORY) throw new FileError("ENOTDIR", path);
    if (node.type === "file" && flags & OPEN_FLAGS.O_TRUNC) node.bytes = new Uint8Array();
    let number = 3;
    while (this.#open.has(number)) number++;
    const appends = (flags & OPEN_FLAGS.O_APPEND) !== 0;
    this.#open.set(number, { path: this.resolve(path), node, position: 0, appends });
    return number;
  }

  close(number: number): void {
    this.#opened(number);
    this.#open.delete(number);
  }

  /** Reads into `bytes`, from a position or where the last read ended; the number of bytes. */
  readOpen(number: number, bytes: Uint8Array, position: number | null): number {
    const file = this.#opened(number);
    if (file.node.type !== "file") throw new FileError("EISDIR", file.path);
    const from = position ?? file.position;
    const read = file.node.bytes.subarray(from, from + bytes.length);
    bytes.set(read);
    if (position === null) file.position += read.length;
    return read.length;
  }

  writeOpen(number: number, bytes: Uint8Array, position: number | null): number {
    const file = this.#opened(number);
    if (file.node.type !== "file") throw new FileError("EISDIR", file.path);
    const from = file.appends ? file.node.bytes.length : (position ?? file.position);
    const grown = new Uint8Array(Math.max(file.node.bytes.length, from + bytes.length));
    grown.set(file.node.bytes);
    grown.set(bytes, from);
    file.node.bytes = grown;
    file.node.changed = this.#now();
    if (position === null) file.position = from + bytes.length;
    return bytes.length;
  }

  list(path: string): string[] {
    const node = this.#find(path);
    if (node.type !== "folder") throw new FileError("ENOTDIR", path);
    return [...node.entries.keys()].sort();
  }

  status(path: string, followsLinks = true): FileStatus {
    return statusOf(this.#find(path, followsLinks));
  }

  statusOpen(number: number): FileStatus {
    return number <= 2 ? TERMINAL : statusOf(this.#opened(number).node);
  }

  makeOneFolder(path: string, mode: number): void {
    const { folder, name } = this.#place(path);
    if (folder.entries.has(name)) throw new FileError("EEXIST", path);
    folder.entries.set(name, this.#folder(mode));
  }

  remove(path: string, type: "file" | "folder"): void {
    const node = this.#find(path, false);
    if (type === "folder" && node.type !== "folder") throw new FileError("ENOTDIR", path);
    if (type === "file" && node.type === "folder") throw new FileError("EISDIR", path);
    if (node.type === "folder" && node.entries.size > 0) throw new FileError("ENOTEMPTY", path);
    const { folder, name } = this.#place(path);
    folder.entries.delete(name);
  }

  rename(from: string, to: string): void {
    const node = this.#find(from, false);
    const [old, place] = [this.#place(from), this.#place(to)];
    old.folder.entries.delete(old.name);
    place.folder.entries.set(place.name, node);
  }

  link(target: string, path: string): void {
    const { folder, name } = this.#place(path);
    if (folder.entries.has(name)) throw new FileError("EEXIST", path);
    folder.entries.set(name, { type: "link", target, ...this.#node(0o777) });
  }

  readLink(path: string): string {
    const node = this.#find(path, false);
    if (node.type !== "link") throw new FileError("EINVAL", path);
    return node.target;
  }

  setMode(path: string, mode: number): void {
    this.#find(path).mode = mode & 0o7777;
  }

  setModeOpen(number: number, mode: number): void {
    this.#opened(number).node.mode = mode & 0o7777;
  }

  truncate(path: string, length: number): void {
    this.#resize(this.#find(path), path, length);
  }

  truncateOpen(number: number, length: number): void {
    const { node, path } = this.#opened(number);
    this.#resize(node, path, length);
  }

  setTimes(path: string, changed: number): void {
    this.#find(path).changed = changed;
  }

  #resize(node: FileNode, path: string, length: number): void {
    if (node.type !== "file") throw new FileError("EISDIR", path);
    const bytes = new Uint8Array(length);
    bytes.set(node.bytes.subarray(0, length));
    node.bytes = bytes;
    node.changed = this.#now();
  }

  #folder(mode: number): Folder {
    return { type: "folder", entries: new Map(), ...this.#node(mode) };
  }

  #node(mode: number): Node {
    return { number: ++this.#made, mode, changed: this.#now() };
  }

  #opened(number: number): OpenFile {
    const file = this.#open.get(number);
    if (!file) throw new FileError("EBADF", String(number));
    return file;
  }

  #exists(path: string): boolean {
    try {
      this.#find(path);
      return true;
    } catch {
      return false;
    }
  }

  /** The folder that an entry is or would be in. */
  #place(path: string): { folder: Folder; name: string } {
    const full = this.resolve(path);
    const folder = this.#find(posix.dirname(full));
    if (folder.type !== "folder") throw new FileError("ENOTDIR", path);
    return { folder, name: posix.basename(full) };
  }

  #find(path: string, followsLinks = true, links = 0): FileNode {
    let node: FileNode = this.#root;
    let place = "/";
    const names = this.resolve(path).split("/").filter(Boolean);
    for (const [i, name] of names.entries()) {
      if (node.type !== "folder") throw new FileError("ENOTDIR", path);
      const next: FileNode | undefined = node.entries.get(name);
      if (!next) throw new FileError("ENOENT", path);
      const isLast = i === names.length - 1;
      if (next.type === "link" && (followsLinks || !isLast)) {
        if (links > MOST_LINKS) throw new FileError("ELOOP", path);
        const rest = posix.join(posix.resolve(place, next.target), ...names.slice(i + 1));
        return this.#find(rest, followsLinks, links + 1);
      }
      node = next;
      place = posix.join(place, name);
    }
    return node;
  }
}

function copied(node: FileNode): FileNode {
  if (node.type !== "folder") return { ...node };
  const entries = new Map<string, FileNode>();
  for (const [name, inner] of node.entries) entries.set(name, copied(inner));
  return { ...node, entries };
}

function statusOf({ type, number, mode, changed, ...node }: FileNode): FileStatus {
  const size = "bytes" in node ? node.bytes.length : 0;
  return new FileStatus({ number, mode: TYPE_BITS[type] | mode, size, changed });
}
