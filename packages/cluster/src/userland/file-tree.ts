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

/** Who owns a new file, and what others may do with it. */
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

/** Makes the folders of a path that are missing. What it is called when no link is on the way: mounts stand there. */
export function ensure(root: Directory, path: string): string {
  let at: FileNode = root;
  const way: string[] = [];
  const names = path.split("/").filter((part) => part !== "");
  for (const [index, name] of names.entries()) {
    if (at.kind !== "directory") return path;
    const next: FileNode = at.entries.get(name) ?? directory({ changedAt: root.changedAt });
    if (next.kind === "link") {
      return ensure(root, posix.join(posix.resolve("/", ...way, next.target), ...names.slice(index + 1)));
    }
    at.entries.set(name, next);
    way.push(name);
    at = next;
  }
  return `/${way.join("/")}`;
}
