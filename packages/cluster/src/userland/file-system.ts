import { posix } from "node:path";
import { FileError } from "./file-error.ts";
import { type Directory, directory, type FileNode, regularFile, symbolicLink } from "./file-tree.ts";

/** A volume in a container's file system. */
export interface Mount {
  readonly node: FileNode;
  readonly readOnly: boolean;
  /** As `mount` prints it: tmpfs, ext4. */
  readonly type: string;
}

/** Who uses files. User 0 may do everything. */
export interface FileUser {
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
}

/** What is known of a file. */
export interface FileStat {
  readonly kind: FileNode["kind"];
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly size: number;
  readonly changedAt: number;
  readonly mountType: string;
}

interface Place {
  /** Without symbolic links. */
  readonly path: string;
  readonly mount: Mount;
  readonly parent: Directory | undefined;
  readonly name: string;
  readonly node: FileNode | undefined;
}

const [READ, WRITE, SEARCH] = [4, 2, 1];
const MOST_LINKS = 40;
const ROOT: FileUser = { uid: 0, gid: 0, groups: [] };
/** Set on directories whose files take on their group. */
export const SET_GID = 0o2000;

/**
 * The files of one container, in memory: those of its image, and over them its volumes, which it may share with others.
 * Every use is checked against the user's rights as Linux does; what fails throws a {@link FileError}.
 */
export class FileSystem {
  readonly #root: Mount;
  readonly #mounts: ReadonlyMap<string, Mount>;
  readonly #user: FileUser;
  readonly #now: () => number;
  readonly umask: number;

  constructor(
    root: Mount,
    mounts: ReadonlyMap<string, Mount>,
    now: () => number,
    user: FileUser = ROOT,
    umask = 0o022,
  ) {
    this.#root = root;
    this.#mounts = mounts;
    this.#now = now;
    this.#user = user;
    this.umask = umask;
  }

  /** The same files with another mask for what is created. */
  withUmask(umask: number): FileSystem {
    return new FileSystem(this.#root, this.#mounts, this.#now, this.#user, umask);
  }

  /** Where volumes are, by path. */
  get mounts(): ReadonlyMap<string, Mount> {
    return this.#mounts;
  }

  exists(path: string): boolean {
    try {
      this.stat(path);
      return true;
    } catch {
      return false;
    }
  }

  stat(path: string, { follow = true } = {}): FileStat {
    const { node, mount } = this.#found(path, follow);
    const { kind, mode, uid, gid, changedAt } = node;
    const size = kind === "file" ? node.data.length : kind === "directory" ? 4096 : 0;
    return { kind, mode, uid, gid, changedAt, size, mountType: mount.type };
  }

  /** Whether the user may read, write (2) or execute (1) it. */
  allows(path: string, right: 1 | 2 | 4): boolean {
    try {
      const { node, mount } = this.#found(path, true);
      return this.#may(node, right) && !(right === WRITE && mount.readOnly);
    } catch {
      return false;
    }
  }

  read(path: string): Uint8Array {
    const { node } = this.#found(path, true);
    if (node.kind === "directory") throw new FileError("EISDIR", path);
    if (!this.#may(node, READ)) throw new FileError("EACCES", path);
    return node.kind === "file" ? node.data : new Uint8Array();
  }

  readText(path: string): string {
    return Buffer.from(this.read(path)).toString("utf8");
  }

  /** Replaces a file's content or adds to it; makes the file if there is none. */
  write(path: string, content: string | Uint8Array, { append = false, mode = 0o666 } = {}): void {
    const place = this.#place(path, true);
    const data = typeof content === "string" ? Buffer.from(content) : content;
    const { node } = place;
    if (!node) {
      const parent = this.#writableParent(place, path);
      parent.entries.set(place.name, regularFile(data, this.#owner(parent, mode & ~this.umask)));
      return;
    }
    if (node.kind === "directory") throw new FileError("EISDIR", path);
    if (node.kind === "device") return;
    if (place.mount.readOnly) throw new FileError("EROFS", path);
    if (!this.#may(node, WRITE)) throw new FileError("EACCES", path);
    if (node.kind !== "file") throw new FileError("ELOOP", path);
    node.data = append ? Buffer.concat([node.data, data]) : data;
    node.changedAt = this.#now();
  }

  /** Makes an empty file, or says that one has just been changed. */
  touch(path: string): void {
    this.write(path, "", { append: true });
  }

  list(path: string): string[] {
    const { node } = this.#found(path, true);
    if (node.kind !== "directory") throw new FileError("ENOTDIR", path);
    if (!this.#may(node, READ)) throw new FileError("EACCES", path);
    return [...node.entries.keys()].sort();
  }

  makeDirectory(path: string, { parents = false, mode = 0o777 } = {}): void {
    if (parents) {
      const above = posix.dirname(path);
      if (above !== path && !this.exists(above)) this.makeDirectory(above, { parents: true });
      if (this.exists(path)) {
        if (this.stat(path).kind !== "directory") throw new FileError("EEXIST", path);
        return;
      }
    }
    const place = this.#place(path, false);
    if (place.node) throw new FileError("EEXIST", path);
    const parent = this.#writableParent(place, path);
    const owner = this.#owner(parent, mode & ~this.umask);
    parent.entries.set(place.name, directory({ ...owner, mode: (owner.mode ?? 0) | (parent.mode & SET_GID) }));
  }

  link(target: string, path: string): void {
    const place = this.#place(path, false);
    if (place.node) throw new FileError("EEXIST", path);
    const parent = this.#writableParent(place, path);
    parent.entries.set(place.name, symbolicLink(target, this.#owner(parent, 0o777)));
  }

  /** Where a symbolic link leads. */
  linkTarget(path: string): string {
    const { node } = this.#found(path, false);
    if (node.kind !== "link") throw new FileError("ENOENT", path);
    return node.target;
  }

  remove(path: string, { recursive = false } = {}): void {
    const place = this.#place(path, false);
    if (!place.node) throw new FileError("ENOENT", path);
    if (this.#mounts.has(place.path)) throw new FileError("EBUSY", path);
    if (place.node.kind === "directory" && place.node.entries.size > 0) {
      if (!recursive) throw new FileError("ENOTEMPTY", path);
      for (const name of [...place.node.entries.keys()]) this.remove(posix.join(place.path, name), { recursive });
    }
    this.#writableParent(place, path).entries.delete(place.name);
  }

  rename(from: string, to: string): void {
    const source = this.#place(from, false);
    if (!source.node) throw new FileError("ENOENT", from);
    const whole = this.exists(to) && this.stat(to).kind === "directory" ? posix.join(to, source.name) : to;
    const target = this.#place(whole, false);
    const [leaves, enters] = [this.#writableParent(source, from), this.#writableParent(target, whole)];
    leaves.entries.delete(source.name);
    enters.entries.set(target.name, source.node);
  }

  setMode(path: string, mode: number): void {
    const node = this.#owned(path);
    node.mode = mode;
  }

  setOwner(path: string, uid: number | undefined, gid: number | undefined): void {
    const node = this.#owned(path);
    if (this.#user.uid !== 0) throw new FileError("EACCES", path);
    if (uid !== undefined) node.uid = uid;
    if (gid !== undefined) node.gid = gid;
  }

  /** The path without symbolic links. */
  realPath(path: string): string {
    return this.#found(path, true).path;
  }

  #owned(path: string): FileNode {
    const { node, mount } = this.#found(path, true);
    if (mount.readOnly) throw new FileError("EROFS", path);
    if (this.#user.uid !== 0 && this.#user.uid !== node.uid) throw new FileError("EACCES", path);
    return node;
  }

  #owner(parent: Directory, mode: number) {
    const gid = parent.mode & SET_GID ? parent.gid : this.#user.gid;
    return { uid: this.#user.uid, gid, mode, changedAt: this.#now() };
  }

  #writableParent({ parent, mount }: Place, path: string): Directory {
    if (!parent) throw new FileError("EBUSY", path);
    if (mount.readOnly) throw new FileError("EROFS", path);
    if (!this.#may(parent, WRITE)) throw new FileError("EACCES", path);
    return parent;
  }

  #found(path: string, follow: boolean): Place & { node: FileNode } {
    const place = this.#place(path, follow);
    if (!place.node) throw new FileError("ENOENT", path);
    return place as Place & { node: FileNode };
  }

  /** Walks a path. Only its last part may be missing. */
  #place(path: string, follow: boolean, links = 0): Place {
    const names = posix.resolve("/", path).split("/").slice(1);
    if (names.at(-1) === "") names.pop();
    let at: Place = { path: "/", mount: this.#root, parent: undefined, name: "", node: this.#root.node };
    for (const [index, name] of names.entries()) {
      const { node } = at;
      if (node?.kind !== "directory") throw new FileError(node ? "ENOTDIR" : "ENOENT", path);
      if (!this.#may(node, SEARCH)) throw new FileError("EACCES", path);
      const here = posix.join(at.path, name);
      const mounted = this.#mounts.get(here);
      at = {
        path: here,
        mount: mounted ?? at.mount,
        // A mount point cannot be taken away or replaced.
        parent: mounted ? undefined : node,
        name,
        node: mounted?.node ?? node.entries.get(name),
      };
      const isLast = index === names.length - 1;
      if (at.node?.kind === "link" && (!isLast || follow)) {
        if (links >= MOST_LINKS) throw new FileError("ELOOP", path);
        const target = posix.resolve(posix.dirname(here), at.node.target);
        return this.#place(posix.join(target, ...names.slice(index + 1)), follow, links + 1);
      }
    }
    return at;
  }

  #may({ mode, uid, gid, kind }: FileNode, right: number): boolean {
    const user = this.#user;
    if (user.uid === 0) return right !== SEARCH || kind === "directory" || (mode & 0o111) !== 0;
    const isOurs = user.gid === gid || user.groups.includes(gid);
    const shift = user.uid === uid ? 6 : isOurs ? 3 : 0;
    return ((mode >> shift) & right) !== 0;
  }
}
