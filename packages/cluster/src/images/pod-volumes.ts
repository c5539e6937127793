import type { Container, Pod, Volume } from "@konverge/kinds";
import type { Mount } from "../userland/file-system.ts";
import { SET_GID } from "../userland/file-system.ts";
import {
  type Directory,
  directory,
  ensure,
  type FileNode,
  plant,
  regularFile,
  symbolicLink,
} from "../userland/file-tree.ts";
import { containerPath, subPathError } from "./confined-path.ts";
import { expand } from "./environment.ts";
import { nodeHostsText } from "./hosts-file.ts";
import type { ProgramHost } from "./program.ts";
import { isFilled, volumeContent } from "./volume-content.ts";

/** The folders that outlive pods: those of nodes, and those of claims. */
export class LastingFolders {
  readonly #known = new Map<string, Directory>();

  /** The folder of that name, which is made when it is first asked for. */
  get(name: string): Directory {
    const known = this.#known.get(name) ?? directory({ mode: 0o777 });
    this.#known.set(name, known);
    return known;
  }
}

interface OpenVolume {
  readonly spec: Volume;
  /** A file, where a pod mounts one of its node. */
  readonly root: FileNode;
  readonly type: string;
  shown: string;
}

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
  readonly #open = new Map<string, Promise<OpenVolume>>();
  #pod: Pod;
  #version = 0;

  constructor(host: ProgramHost, lasting: LastingFolders, pod: Pod) {
    this.#host = host;
    this.#lasting = lasting;
    this.#pod = pod;
  }

  /** What a container has mounted, by path. Throws with what is wrong with a part of a volume that it asks for. */
  async mountsOf(container: Container, env: Readonly<Record<string, string>>): Promise<Map<string, Mount>> {
    const mounts = new Map<string, Mount>();
    for (const { name, mountPath, subPath = "", subPathExpr, readOnly = false } of container.volumeMounts ?? []) {
      const spec = this.#pod.spec?.volumes?.find((one) => one.name === name);
      if (!spec) continue;
      const { root, type } = await this.#volume(spec);
      const part = subPathExpr === undefined ? subPath : expand(subPathExpr, env);
      const node = part === "" ? root : this.#partOf(root, part, isFilled(spec));
      mounts.set(containerPath(mountPath), {
        node,
        type,
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

  #volume(spec: Volume): Promise<OpenVolume> {
    const known = this.#open.get(spec.name) ?? this.#make(spec);
    this.#open.set(spec.name, known);
    return known;
  }

  async #make(spec: Volume): Promise<OpenVolume> {
    const { namespace } = this.#pod.metadata;
    const group = this.#pod.spec?.securityContext?.fsGroup;
    const { hostPath, persistentVolumeClaim, ephemeral, emptyDir, image } = spec;
    const claim = persistentVolumeClaim?.claimName ?? (ephemeral && `${this.#pod.metadata.name}-${spec.name}`);
    const root = hostPath
      ? this.#onHost(containerPath(hostPath.path))
      : claim
        ? this.#lasting.get(`claim ${namespace}/${claim}`)
        : directory({ mode: 0o777, changedAt: this.#host.clock.now() });
    const files = image && this.#host.images.find(image.reference)?.files;
    if (root.kind === "directory")
      for (const [path, text] of Object.entries(files ?? {})) plant(root, path, regularFile(text));
    if (group !== undefined && !hostPath) {
      root.gid = group;
      root.mode |= SET_GID;
    }
    const isMemory = emptyDir?.medium === "Memory" || (isFilled(spec) && !spec.configMap);
    const volume: OpenVolume = { spec, root, type: isMemory ? "tmpfs" : "ext4", shown: "" };
    if (isFilled(spec)) await this.#fill(volume);
    return volume;
  }

  /** What is at a path of the node; a folder is made where nothing is. */
  #onHost(path: string): FileNode {
    const root = this.#lasting.get(`node ${this.#pod.spec?.nodeName}`);
    if (root.entries.size === 0) plant(root, "etc/hosts", regularFile(nodeHostsText()));
    ensure(root, path);
    let at: FileNode = root;
    for (const name of path.split("/").filter((part) => part !== ""))
      if (at.kind === "directory") at = at.entries.get(name) ?? at;
    return at;
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

  /** A part of a volume; folders that are missing are made where the volume may be written to. */
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
function linked(from: Directory, node: FileNode | undefined): FileNode | undefined {
  if (node?.kind !== "link") return node;
  let at: FileNode | undefined = from;
  for (const name of node.target.split("/"))
    at = at?.kind === "directory" ? linked(at, at.entries.get(name)) : undefined;
  return at;
}

/** The pod's group may read what the cluster fills, whatever its mode says. */
function ofGroup(mode: number, group: number | undefined): number {
  return group === undefined ? mode : mode | 0o440;
}
