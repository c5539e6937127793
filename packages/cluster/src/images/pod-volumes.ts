import { parseQuantity } from "@konverge/core";
import type { Container, Pod, Volume } from "@konverge/kinds";
import { type Mount, SET_GID } from "../userland/file-system.ts";
import {
  type Directory,
  directory,
  ensure,
  type FileNode,
  plant,
  regularFile,
  symbolicLink,
} from "../userland/file-tree.ts";
import { type Disk, Storage } from "../userland/limits/storage.ts";
import { containerPath, subPathError } from "./confined-path.ts";
import { expand } from "./environment.ts";
import { nodeHostsText } from "./hosts-file.ts";
import type { ProgramHost } from "./program-site.ts";
import { checkedAfter } from "./storage-limits.ts";
import { isFilled, volumeContent } from "./volume-content.ts";

interface LastingFolder {
  readonly root: Directory;
  readonly storage: Storage;
}

/** The folders that outlive pods: those of nodes, and those of claims. */
export class LastingFolders {
  readonly #disk: Disk;
  readonly #known = new Map<string, LastingFolder>();

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  ofNode(name: string): LastingFolder {
    return this.#get(`node ${name}`);
  }

  ofClaim(namespace: string, name: string): LastingFolder {
    return this.#get(`${CLAIM}${namespace}/${name}`);
  }

  /** Forgets the folders of deleted claims. */
  sweep(exists: (namespace: string, claim: string) => boolean): void {
    for (const [key, { storage }] of this.#known) {
      const [namespace, name] = key.startsWith(CLAIM) ? key.slice(CLAIM.length).split("/") : [];
      if (namespace === undefined || name === undefined || exists(namespace, name)) continue;
      storage.free();
      this.#known.delete(key);
    }
  }

  /** The folder with that name, created on first use. */
  #get(name: string): LastingFolder {
    const known = this.#known.get(name) ?? { root: directory({ mode: 0o777 }), storage: new Storage(this.#disk) };
    this.#known.set(name, known);
    return known;
  }
}

const CLAIM = "claim ";

/** Where the files of a pod are counted. */
export interface PodStorage {
  readonly disk: Disk;
  /** Called when a volume has passed its limit. */
  exceeded(): void;
}

interface OpenVolume {
  readonly spec: Volume;
  /** A file, where a pod mounts one of its node. */
  readonly root: FileNode;
  readonly type: string;
  readonly storage: Storage;
  shown: string;
}

const MOST_LINKS = 40;
/** Links and folders by which a whole volume changes at once, as nodes lay them out. */
const DATA = "..data";

/**
 * The volumes of a pod, in memory, shared by its containers. Those that the cluster fills are laid out as nodes do it: the
 * files lie in a folder with a new name for each version, and links lead to the present one, so that a reader never sees
 * half a change.
 */
export class PodVolumes {
  readonly #host: ProgramHost;
  readonly #lasting: LastingFolders;
  readonly #storage: PodStorage;
  readonly #open = new Map<string, Promise<OpenVolume>>();
  /** The volumes with the lifetime of the pod, by name. */
  readonly #own = new Map<string, Storage>();
  #pod: Pod;
  #version = 0;

  constructor(host: ProgramHost, lasting: LastingFolders, pod: Pod, storage: PodStorage) {
    this.#storage = storage;
    this.#host = host;
    this.#lasting = lasting;
    this.#pod = pod;
  }

  /** The mounts of a container, by path. Throws if a subPath is invalid. */
  async mountsOf(container: Container, env: Readonly<Record<string, string>>): Promise<Map<string, Mount>> {
    const mounts = new Map<string, Mount>();
    for (const { name, mountPath, subPath = "", subPathExpr, readOnly = false } of container.volumeMounts ?? []) {
      const spec = this.#pod.spec?.volumes?.find((one) => one.name === name);
      if (!spec) continue;
      const { root, type, storage } = await this.#volume(spec);
      const part = subPathExpr === undefined ? subPath : expand(subPathExpr, env);
      const node = part === "" ? root : this.#partOf(root, part, isFilled(spec));
      mounts.set(containerPath(mountPath), {
        node,
        type,
        storage,
        readOnly: readOnly || isFilled(spec) || spec.image !== undefined,
      });
    }
    return mounts;
  }

  /** Brings what the cluster fills up to date. */
  async refresh(pod: Pod): Promise<void> {
    this.#pod = pod;
    for (const opened of this.#open.values()) {
      const volume = await opened.catch(() => undefined);
      if (volume && isFilled(volume.spec)) await this.#fill(volume);
    }
  }

  /** Bytes written to the volumes with the lifetime of the pod. */
  written(): Map<string, number> {
    return new Map([...this.#own].map(([name, { bytes }]) => [name, bytes]));
  }

  /** The pod is deleted. */
  free(): void {
    for (const storage of this.#own.values()) storage.free();
    this.#own.clear();
  }

  #volume(spec: Volume): Promise<OpenVolume> {
    const known = this.#open.get(spec.name) ?? this.#make(spec);
    this.#open.set(spec.name, known);
    return known;
  }

  async #make(spec: Volume): Promise<OpenVolume> {
    const { namespace = "default" } = this.#pod.metadata;
    const group = this.#pod.spec?.securityContext?.fsGroup;
    const { hostPath, persistentVolumeClaim, ephemeral, emptyDir, image } = spec;
    const claim = persistentVolumeClaim?.claimName ?? (ephemeral && `${this.#pod.metadata.name}-${spec.name}`);
    const isMemory = emptyDir?.medium === "Memory" || (isFilled(spec) && !spec.configMap);
    const { root, storage } = hostPath
      ? this.#onHost(containerPath(hostPath.path))
      : claim
        ? this.#lasting.ofClaim(namespace, claim)
        : this.#ofPod(spec, isMemory);
    const files = image && this.#host.images.find(image.reference)?.files;
    if (root.kind === "directory")
      for (const [path, text] of Object.entries(files ?? {})) plant(root, path, regularFile(text));
    if (group !== undefined && !hostPath) {
      root.gid = group;
      root.mode |= SET_GID;
    }
    const volume: OpenVolume = { spec, root, storage, type: isMemory ? "tmpfs" : "ext4", shown: "" };
    if (isFilled(spec)) await this.#fill(volume);
    return volume;
  }

  /** A volume with the lifetime of the pod. In memory it has a size; on disk there is a limit, over which the pod is evicted. */
  #ofPod({ name, emptyDir }: Volume, isMemory: boolean): { root: Directory; storage: Storage } {
    const { disk, exceeded } = this.#storage;
    const size = emptyDir?.sizeLimit ? parseQuantity(emptyDir.sizeLimit).asNumber() : 0;
    const limit = isMemory ? undefined : checkedAfter(this.#pod, emptyDir?.sizeLimit);
    const storage = new Storage(disk, {
      ...(isMemory && size > 0 && { size }),
      ...(limit !== undefined && { limit, exceeded }),
    });
    this.#own.set(name, storage);
    return { root: directory({ mode: 0o777, changedAt: this.#host.clock.now() }), storage };
  }

  /** The file or folder at a path of the node; a missing folder is created. */
  #onHost(path: string): { root: FileNode; storage: Storage } {
    const { root, storage } = this.#lasting.ofNode(this.#pod.spec?.nodeName ?? "");
    if (root.entries.size === 0) plant(root, "etc/hosts", regularFile(nodeHostsText()));
    ensure(root, path);
    let at: FileNode = root;
    for (const name of path.split("/").filter((part) => part !== ""))
      if (at.kind === "directory") at = at.entries.get(name) ?? at;
    return { root: at, storage };
  }

  async #fill(volume: OpenVolume): Promise<void> {
    const files = await volumeContent(this.#host, this.#pod, this.#pod.spec?.containers[0], volume.spec);
    const shown = JSON.stringify(
      [...files].map(([path, { data, mode }]) => [path, mode, Buffer.from(data).toString("base64")]),
    );
    if (shown === volume.shown) return;
    volume.shown = shown;
    const { root } = volume;
    if (root.kind !== "directory") return;
    const now = this.#host.clock.now();
    const group = this.#pod.spec?.securityContext?.fsGroup;
    const owner = { gid: group ?? 0, changedAt: now };
    const version = `..${new Date(now).toISOString().slice(0, 19).replaceAll(/[-T:]/g, "_")}.${++this.#version}`;
    const folder = directory(owner);
    for (const [path, { data, mode }] of files)
      plant(folder, path, regularFile(data, { ...owner, mode: ofGroup(mode, group) }));
    root.entries.clear();
    root.entries.set(version, folder);
    root.entries.set(DATA, symbolicLink(version, owner));
    for (const name of folder.entries.keys()) root.entries.set(name, symbolicLink(`${DATA}/${name}`, owner));
  }

  /** A subPath of a volume; missing folders are created if the volume is writable. */
  #partOf(root: FileNode, part: string, isFixed: boolean): FileNode {
    const problem = subPathError(part);
    if (problem) throw new Error(problem);
    let at: FileNode = root;
    for (const name of part.split("/").filter((one) => one !== "" && one !== ".")) {
      if (at.kind !== "directory") throw new Error(`subPath "${part}": not a directory`);
      const found = linked(at, at.entries.get(name));
      if (found) {
        at = found;
        continue;
      }
      if (isFixed) throw new Error(`failed to prepare subPath for volumeMount: "${part}" is not in the volume`);
      const made = directory({ mode: 0o750 | (root.mode & 0o2007), gid: root.gid, changedAt: this.#host.clock.now() });
      at.entries.set(name, made);
      at = made;
    }
    return at;
  }
}

/** Follows the links of a filled volume, which never lead out of it. */
function linked(from: Directory, node: FileNode | undefined, links = { left: MOST_LINKS }): FileNode | undefined {
  if (node?.kind !== "link") return node;
  if (links.left-- === 0) return undefined;
  let at: FileNode | undefined = from;
  for (const name of node.target.split("/"))
    at = at?.kind === "directory" ? linked(at, at.entries.get(name), links) : undefined;
  return at;
}

/** The pod's group can read volumes that the cluster fills, regardless of their mode. */
function ofGroup(mode: number, group: number | undefined): number {
  return group === undefined ? mode : mode | 0o440;
}
