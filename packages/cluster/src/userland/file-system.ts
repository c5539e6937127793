import { posix } from "node:path";
import { FileError } from "./file-error.ts";
import {
  append as appendTo,
  type Device,
  type Directory,
  directory,
  type FileNode,
  regularFile,
  replace,
  sizeOf,
  symbolicLink,
} from "./file-tree.ts";
import type { Storage } from "./limits/storage.ts";

/** A volume in a container's file system. */
export interface Mount {
  readonly node: FileNode;
  readonly readOnly: boolean;
  /** As `mount` prints it: tmpfs, ext4. */
  readonly type: string;
  /** Counts what is written. */
  readonly storage?: Storage;
}

/** The user of files. User 0 can do everything. */
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
  readonly device?: Device["device"];
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
const LONGEST_NAME = 255;
const LONGEST_PATH = 4096;
const ROOT: FileUser = { uid: 0, gid: 0, groups: [] };
/** Set on directories whose files take on their group. */
export const SET_GID = 0o2000;

/**
 * The in-memory files of one container: those of its image, and the volumes mounted over them, which it may share with
 * others. Every access is checked against the user's permissions as on Linux, and throws a {@link FileError} when it fails.
 */
export class FileSystem {
  readonly #root: Mount;
  readonly #mounts: ReadonlyMap<string, Mount>;
  readonly #user: FileUser;
  readonly #now: () => number;
  /** How many parts the longest path of a mount has. */
  readonly #deepest: number;
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
    this.#deepest = Math.max(0, ...mounts.keys().map((path) => path.split("/").length - 1));
  }

  /** The same files with another mask for what is created. */
  withUmask(umask: number): FileSystem {
    return new FileSystem(this.#root, this.#mounts, this.#now, this.#user, umask);
  }

  /** The same files, used by another user. */
  as(user: FileUser): FileSystem {
    return new FileSystem(this.#root, this.#mounts, this.#now, user, this.umask);
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
    const device = kind === "device" ? { device: node.device } : {};
    return { kind, mode, uid, gid, changedAt, size, mountType: mount.type, ...device };
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
      place.mount.storage?.take(path, data.length, 1);
      parent.entries.set(place.name, regularFile(own(data), this.#owner(parent, mode & ~this.umask)));
      return;
    }
    if (node.kind === "directory") throw new FileError("EISDIR", path);
    if (node.kind === "device") return;
    if (place.mount.readOnly) throw new FileError("EROFS", path);
    if (!this.#may(node, WRITE)) throw new FileError("EACCES", path);
    if (node.kind !== "file") throw new FileError("ELOOP", path);
    const growth = append ? data.length : data.length - node.data.length;
    if (growth > 0) place.mount.storage?.take(path, growth);
    else place.mount.storage?.give(-growth);
    if (append) appendTo(node, data);
    else replace(node, own(data));
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
    const make = (place: Place, given = 0o777) => {
      const parent = this.#writableParent(place, path);
      place.mount.storage?.take(path, 0, 1);
      const owner = this.#owner(parent, given & ~this.umask);
      const made = directory({ ...owner, mode: (owner.mode ?? 0) | (parent.mode & SET_GID) });
      parent.entries.set(place.name, made);
      return made;
    };
    const place = this.#place(path, parents, parents ? make : undefined);
    if (!place.node) make(place, mode);
    else if (!parents || place.node.kind !== "directory") throw new FileError("EEXIST", path);
  }

  link(target: string, path: string): void {
    const place = this.#place(path, false);
    if (place.node) throw new FileError("EEXIST", path);
    const parent = this.#writableParent(place, path);
    if (target.length > LONGEST_PATH) throw new FileError("ENAMETOOLONG", path);
    place.mount.storage?.take(path, target.length, 1);
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
    const isMountWithin = this.#mounts
      .keys()
      .some((mount) => mount === place.path || mount.startsWith(`${place.path}/`));
    if (isMountWithin) throw new FileError("EBUSY", path);
    if (place.node.kind === "directory" && place.node.entries.size > 0) {
      if (!recursive) throw new FileError("ENOTEMPTY", path);
      this.#mayEmpty(place.node, path);
    }
    this.#writableParent(place, path).entries.delete(place.name);
    this.#count(place, path, -1);
  }

  /** Counts what is added to a mount, or taken from it. */
  #count({ node, mount: { storage } }: Place, path: string, sign: 1 | -1): void {
    if (!node || !storage) return;
    const { bytes, files } = sizeOf(node);
    if (sign > 0) storage.take(path, bytes, files);
    else storage.give(bytes, files);
  }

  /** Throws unless the user may remove all that is in a directory. */
  #mayEmpty(top: Directory, path: string): void {
    const left = [top];
    for (let next = left.pop(); next; next = left.pop()) {
      if (next.entries.size === 0) continue;
      if (!this.#may(next, WRITE) || !this.#may(next, SEARCH)) throw new FileError("EACCES", path);
      for (const child of next.entries.values()) if (child.kind === "directory") left.push(child);
    }
  }

  rename(from: string, to: string): void {
    const source = this.#place(from, false);
    if (!source.node) throw new FileError("ENOENT", from);
    const whole = this.exists(to) && this.stat(to).kind === "directory" ? posix.join(to, source.name) : to;
    const target = this.#place(whole, false);
    if (target.path.startsWith(`${source.path}/`)) throw new FileError("EINVAL", from);
    const [leaves, enters] = [this.#writableParent(source, from), this.#writableParent(target, whole)];
    if (target.node === source.node) return;
    if (source.mount.storage !== target.mount.storage) {
      this.#count({ ...target, node: source.node }, whole, 1);
      this.#count(source, from, -1);
    }
    this.#count(target, whole, -1);
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

  /** Walks a path. Only its last part may be missing, or what `make` makes. */
  #place(path: string, follow: boolean, make?: (place: Place) => FileNode, links = 0): Place {
    if (path.length > LONGEST_PATH) throw new FileError("ENAMETOOLONG", path);
    const names = posix.resolve("/", path).split("/").slice(1);
    if (names.at(-1) === "") names.pop();
    let at: Place = { path: "/", mount: this.#root, parent: undefined, name: "", node: this.#root.node };
    for (const [index, name] of names.entries()) {
      const node = at.node ?? make?.(at);
      if (node?.kind !== "directory") throw new FileError(node ? "ENOTDIR" : "ENOENT", path);
      if (!this.#may(node, SEARCH)) throw new FileError("EACCES", path);
      if (name.length > LONGEST_NAME) throw new FileError("ENAMETOOLONG", path);
      const here = at.path === "/" ? `/${name}` : `${at.path}/${name}`;
      const mounted = index < this.#deepest ? this.#mounts.get(here) : undefined;
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
        return this.#place(posix.join(target, ...names.slice(index + 1)), follow, make, links + 1);
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

/** Data to keep: a small part of something large would keep all of it in memory. */
function own(data: Uint8Array): Uint8Array {
  return data.buffer.byteLength > 2 * data.length ? Uint8Array.from(data) : data;
}
