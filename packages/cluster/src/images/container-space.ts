import type { Container, Pod } from "@konverge/kinds";
import { resolverText } from "../streams/cluster-names.ts";
import type { ClusterNetwork } from "../streams/cluster-network.ts";
import { FileSystem, type FileUser, type Mount } from "../userland/file-system.ts";
import { ensure, regularFile } from "../userland/file-tree.ts";
import type { ContainerLimits, Machine } from "../userland/limits/machine.ts";
import { Storage } from "../userland/limits/storage.ts";
import { rootFiles } from "../userland/root-files.ts";
import { Userland } from "../userland/userland.ts";
import { containerPath } from "./confined-path.ts";
import { ControlGroup } from "./control-group.ts";
import { expand, insideEnvironment } from "./environment.ts";
import { hostsText } from "./hosts-file.ts";
import type { Image } from "./image.ts";
import { PodTokens } from "./pod-tokens.ts";
import { LastingFolders, PodVolumes } from "./pod-volumes.ts";
import type { ProgramHost, ProgramSite } from "./program-site.ts";
import { checkedAfter } from "./storage-limits.ts";

/** The default `terminationMessagePath`. */
const TERMINATION_LOG = "/dev/termination-log";
/** The most bytes of a termination message. */
const LONGEST_MESSAGE = 4096;

/** A container from the inside: its files, its variables and its commands. */
export interface ContainerSpace {
  readonly userland: Userland;
  /** What it runs: its own command, or its image's. */
  readonly argv: readonly string[];
  /** What it has written to its termination message path. */
  terminationMessage(): string;
  readonly limits: ContainerLimits;
  /** The pod has changed. */
  update(pod: Pod): void;
}

/** What spaces need besides what programs do. */
export interface SpaceSite extends ProgramSite {
  readonly network: ClusterNetwork;
}

interface OpenPod {
  readonly volumes: PodVolumes;
  readonly host: ProgramHost;
  readonly spaces: Map<string, OpenContainer>;
  /** A limit of its storage has been passed. */
  exceeded(): void;
}

/** A run of a container. */
interface OpenContainer {
  readonly run: string;
  readonly space: Promise<ContainerSpace>;
  readonly end: AbortController;
  readonly limits: ContainerLimits;
  /** What it has written outside of volumes. */
  readonly layer: Storage;
}

/** What a container uses: CPUs, and bytes of memory. */
export interface MeasuredUsage {
  readonly cpu: number;
  readonly memory: number;
}

/** The spaces of containers. A space is created on first use, and removed with the run of the container. */
export class ContainerSpaces {
  readonly #machine: Machine;
  readonly #lasting: LastingFolders;
  readonly #exceeded: (pod: Pod) => void;
  readonly #pods = new Map<string, OpenPod>();

  /** `exceeded` is called when the files of a pod have passed one of its limits. */
  constructor(machine: Machine, exceeded: (pod: Pod) => void) {
    this.#machine = machine;
    this.#exceeded = exceeded;
    this.#lasting = new LastingFolders(machine.disk);
  }

  /** The space of a run of a container. */
  open(
    site: SpaceSite,
    pod: Pod,
    container: Container,
    run: string,
    log: (text: string | Uint8Array) => void,
  ): Promise<ContainerSpace> {
    const uid = pod.metadata.uid ?? "";
    const opened = this.#pods.get(uid) ?? this.#openPod(site, pod);
    this.#pods.set(uid, opened);
    const known = opened.spaces.get(container.name);
    if (known?.run === run) return known.space;
    if (known) release(known);
    const end = new AbortController();
    const limits = this.#machine.container(() => end.abort());
    const limit = checkedAfter(pod, container.resources?.limits?.["ephemeral-storage"]);
    const layer = new Storage(this.#machine.disk, {
      ...(limit !== undefined && { limit }),
      exceeded: opened.exceeded,
    });
    const space = spaceOf(opened, site, pod, container, log, { ended: end.signal, limits, layer });
    opened.spaces.set(container.name, { run, space, end, limits, layer });
    return space;
  }

  /** What an interpreted container uses; undefined when nothing is interpreted in it. */
  usage(uid: string, name: string): MeasuredUsage | undefined {
    const limits = this.#pods.get(uid)?.spaces.get(name)?.limits;
    return limits && { cpu: limits.cpu.usage, memory: limits.memory.used };
  }

  /** Bytes that a pod has written: to its containers outside of volumes, and to its volumes on disk, by their names. */
  written(uid: string): { containers: Map<string, number>; volumes: Map<string, number> } {
    const { spaces, volumes } = this.#pods.get(uid) ?? {};
    const containers = new Map([...(spaces ?? [])].map(([name, { layer }]) => [name, layer.bytes]));
    return { containers, volumes: volumes?.written() ?? new Map() };
  }

  /** Forgets the folders of deleted claims. */
  sweep(exists: (namespace: string, claim: string) => boolean): void {
    this.#lasting.sweep(exists);
  }

  /** The pod has changed, or something that its volumes show: open volumes are updated. */
  async refresh(pod: Pod): Promise<void> {
    const opened = this.#pods.get(pod.metadata.uid ?? "");
    if (!opened) return;
    for (const { space } of opened.spaces.values()) (await space.catch(() => undefined))?.update(pod);
    await opened.volumes.refresh(pod);
  }

  /** Whether a pod has any. */
  has(uid: string): boolean {
    return this.#pods.has(uid);
  }

  /** A run of a container has ended: its listeners are closed. */
  close(uid: string, name: string): void {
    const known = this.#pods.get(uid)?.spaces.get(name);
    known?.end.abort();
    known?.limits.memory.close();
  }

  drop(uid: string): void {
    const opened = this.#pods.get(uid);
    for (const known of opened?.spaces.values() ?? []) release(known);
    opened?.volumes.free();
    this.#pods.delete(uid);
  }

  #openPod(site: SpaceSite, pod: Pod): OpenPod {
    const host = { ...site, tokens: new PodTokens(site.client, site.clock, pod) };
    const exceeded = () => this.#exceeded(pod);
    const volumes = new PodVolumes(host, this.#lasting, pod, { disk: this.#machine.disk, exceeded });
    return { host, volumes, spaces: new Map(), exceeded };
  }
}

function release({ end, limits, layer }: OpenContainer): void {
  end.abort();
  limits.memory.close();
  layer.free();
}

async function spaceOf(
  { host, volumes }: OpenPod,
  { images, network, clock, place }: SpaceSite,
  pod: Pod,
  container: Container,
  log: (text: string | Uint8Array) => void,
  { ended, limits, layer }: { ended: AbortSignal; limits: ContainerLimits; layer: Storage },
): Promise<ContainerSpace> {
  const image = images.find(container.image) ?? {};
  const env = await insideEnvironment(host, pod, container);
  const mounts = await volumes.mountsOf(container, env);
  const messagePath = containerPath(container.terminationMessagePath ?? TERMINATION_LOG);
  const messageFile = regularFile("", { mode: 0o666 });
  mounts.set(messagePath, { node: messageFile, type: "ext4", readOnly: false, storage: layer });
  const control = new ControlGroup(pod, container);
  mounts.set("/sys/fs/cgroup", { node: control.root, type: "cgroup2", readOnly: true });
  const user = userOf(pod, container, image);
  const noNewPrivileges = container.securityContext?.allowPrivilegeEscalation === false;
  const net = network.of(pod, place.podIP, ended);
  const own = rootFiles({
    now: clock.now(),
    hostName: net.hostName,
    hosts: hostsText(pod, place.podIP),
    resolver: resolverText(pod),
    credentials: { ...user, noNewPrivileges, isFiltered: hasSeccompProfile(pod, container) },
    settings: Object.fromEntries(pod.spec?.securityContext?.sysctls?.map(({ name, value }) => [name, value]) ?? []),
    files: image.files ?? {},
  });
  const standing = new Map([...mounts].map(([path, mount]) => [ensure(own, path), mount]));
  const readOnly = container.securityContext?.readOnlyRootFilesystem ?? false;
  const root: Mount = { type: "overlay", readOnly, node: own, storage: layer };
  const files = new FileSystem(root, standing, () => clock.now(), user);
  const cwd = containerPath(container.workingDir ?? image.workingDir ?? "/");
  const commands = image.commands ?? {};
  const privileges = { user, setuid: image.setuid ?? [], noNewPrivileges };
  const inside = { pod, container, env, files, ...privileges, network: net, clock, cwd, commands, limits, ended, log };
  const update = (changed: Pod) => {
    control.update(changed);
    limits.cpu.limit = Math.min(1, control.cpus ?? 1);
    limits.memory.limit = control.memory ?? Number.POSITIVE_INFINITY;
  };
  update(pod);
  return {
    userland: new Userland(inside),
    limits,
    argv: commandLine(image, container).map((word) => expand(word, env)),
    update,
    terminationMessage: () => Buffer.from(messageFile.data).subarray(0, LONGEST_MESSAGE).toString("utf8"),
  };
}

/** What a container runs. Its command stands for the image's entrypoint, and its args for the image's own. */
export function commandLine(image: Image, { command = [], args = [] }: Container): readonly string[] {
  if (command.length > 0) return [...command, ...args];
  return [...(image.entrypoint ?? []), ...(args.length > 0 ? args : (image.cmd ?? []))];
}

function userOf(pod: Pod, { securityContext: own }: Container, image: Image): FileUser {
  const ofPod = pod.spec?.securityContext;
  const groups = [...(ofPod?.supplementalGroups ?? [])];
  if (ofPod?.fsGroup !== undefined) groups.push(ofPod.fsGroup);
  return {
    uid: own?.runAsUser ?? ofPod?.runAsUser ?? image.user ?? 0,
    gid: own?.runAsGroup ?? ofPod?.runAsGroup ?? 0,
    groups,
  };
}

/** Whether a seccomp profile applies to a container: its own or that of its pod, and none if it is privileged. */
function hasSeccompProfile({ spec }: Pod, { securityContext }: Container): boolean {
  if (securityContext?.privileged) return false;
  const profile = securityContext?.seccompProfile ?? spec?.securityContext?.seccompProfile;
  return profile !== undefined && profile.type !== "Unconfined";
}
