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

/** Makes sure that there is something at a path below a directory: folders, where nothing is. */
export function ensure(root: Directory, path: string): void {
  let at: FileNode = root;
  for (const name of path.split("/").filter((part) => part !== "")) {
    if (at.kind !== "directory") return;
    const next: FileNode = at.entries.get(name) ?? directory({ changedAt: root.changedAt });
    at.entries.set(name, next);
    at = next;
  }
}
