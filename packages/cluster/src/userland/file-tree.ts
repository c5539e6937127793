import { posix } from "node:path";

/** What all files have. Times are milliseconds since 1970. */
interface Inode {
  mode: number;
  uid: number;
  gid: number;
  changedAt: number;
}

export interface Directory extends Inode {
  readonly kind: "directory";
  readonly entries: Map<string, FileNode>;
}

export interface RegularFile extends Inode {
  readonly kind: "file";
  data: Uint8Array;
}

export interface SymbolicLink extends Inode {
  readonly kind: "link";
  readonly target: string;
}

/** `/dev/null` swallows what is written and has nothing to read; `/dev/zero` has endless zeros. */
export interface Device extends Inode {
  readonly kind: "device";
  readonly device: "null" | "zero" | "urandom";
}

export type FileNode = Directory | RegularFile | SymbolicLink | Device;

/** The owner and the permissions of a new file. */
export type Ownership = Partial<Inode>;

export function directory(owner: Ownership = {}): Directory {
  return { kind: "directory", entries: new Map(), mode: 0o755, uid: 0, gid: 0, changedAt: 0, ...owner };
}

export function regularFile(content: string | Uint8Array, owner: Ownership = {}): RegularFile {
  const data = typeof content === "string" ? Buffer.from(content) : content;
  return { kind: "file", data, mode: 0o644, uid: 0, gid: 0, changedAt: 0, ...owner };
}

export function symbolicLink(target: string, owner: Ownership = {}): SymbolicLink {
  return { kind: "link", target, mode: 0o777, uid: 0, gid: 0, changedAt: 0, ...owner };
}

export function device(name: Device["device"]): Device {
  return { kind: "device", device: name, mode: 0o666, uid: 0, gid: 0, changedAt: 0 };
}

const rooms = new WeakMap<RegularFile, Uint8Array>();

/** Adds to a file. It is given more room than it needs, so that many small additions do not copy it each time. */
export function append(file: RegularFile, data: Uint8Array): void {
  const { data: before } = file;
  const length = before.length + data.length;
  let room = rooms.get(file);
  const isOwn = room !== undefined && room.buffer === before.buffer && before.byteOffset === 0;
  if (!room || !isOwn || room.length < length) {
    room = Buffer.allocUnsafeSlow(length + (length >> 2));
    room.set(before);
    rooms.set(file, room);
  }
  room.set(data, before.length);
  file.data = room.subarray(0, length);
}

/** Gives a file another content. */
export function replace(file: RegularFile, data: Uint8Array): void {
  // What others have copied from the old content must not change with what is added to the new one.
  rooms.delete(file);
  file.data = data;
}

/** How many bytes and files a node is, with all that is in it. */
export function sizeOf(top: FileNode): { bytes: number; files: number } {
  let [bytes, files] = [0, 0];
  const left = [top];
  for (let next = left.pop(); next; next = left.pop()) {
    files++;
    if (next.kind === "file") bytes += next.data.length;
    if (next.kind === "link") bytes += next.target.length;
    if (next.kind === "directory") for (const child of next.entries.values()) left.push(child);
  }
  return { bytes, files };
}

/** Puts a node at a path below a directory, with the directories on the way. */
export function plant(root: Directory, path: string, node: FileNode): void {
  const names = path.split("/").filter((name) => name !== "");
  const last = names.pop();
  if (last === undefined) return;
  let at = root;
  for (const name of names) {
    const next = at.entries.get(name);
    if (next?.kind === "directory") at = next;
    else {
      const made = directory({ changedAt: at.changedAt });
      at.entries.set(name, made);
      at = made;
    }
  }
  at.entries.set(last, node);
}

/** Symbolic links on the way to a mount. */
const MOST_LINKS = 40;

/** Makes the folders of a path that are missing. What it is called when no link is on the way: mounts stand there. */
export function ensure(root: Directory, path: string, links = 0): string {
  let at: FileNode = root;
  const way: string[] = [];
  const names = path.split("/").filter((part) => part !== "");
  for (const [index, name] of names.entries()) {
    if (at.kind !== "directory") return path;
    const next: FileNode = at.entries.get(name) ?? directory({ changedAt: root.changedAt });
    if (next.kind === "link") {
      if (links >= MOST_LINKS) return path;
      return ensure(root, posix.join(posix.resolve("/", ...way, next.target), ...names.slice(index + 1)), links + 1);
    }
    at.entries.set(name, next);
    way.push(name);
    at = next;
  }
  return `/${way.join("/")}`;
}
