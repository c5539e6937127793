import type { Container, Pod } from "@konverge/kinds";
import { resolverText } from "../streams/cluster-names.ts";
import type { ClusterNetwork } from "../streams/cluster-network.ts";
import { FileSystem, type FileUser, type Mount } from "../userland/file-system.ts";
import { ensure, regularFile } from "../userland/file-tree.ts";
import { rootFiles } from "../userland/root-files.ts";
import { Userland } from "../userland/userland.ts";
import { ControlGroup } from "./control-group.ts";
import { expand, insideEnvironment } from "./environment.ts";
import { hostsText } from "./hosts-file.ts";
import type { Image } from "./image.ts";
import { PodTokens } from "./pod-tokens.ts";
import { LastingFolders, PodVolumes } from "./pod-volumes.ts";
import type { ProgramHost, ProgramSite } from "./program.ts";

/** Where a container leaves its last words when nothing else is said. */
const LAST_WORDS = "/dev/termination-log";
/** More than this of them is not kept. */
const LONGEST_WORDS = 4096;

/** A container from the inside: its files, its variables and its commands. */
export interface ContainerSpace {
  readonly userland: Userland;
  /** What it runs: its own command, or its image's. */
  readonly argv: readonly string[];
  /** What it has left as its last words. */
  lastWords(): string;
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
  readonly spaces: Map<
    string,
    { readonly run: string; readonly space: Promise<ContainerSpace>; readonly end: AbortController }
  >;
}

/** The spaces of containers. One is made when somebody first looks into it, and is gone with the run of the container. */
export class ContainerSpaces {
  readonly #lasting = new LastingFolders();
  readonly #pods = new Map<string, OpenPod>();

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
    known?.end.abort();
    const end = new AbortController();
    const space = spaceOf(opened, site, pod, container, log, end.signal);
    opened.spaces.set(container.name, { run, space, end });
    return space;
  }

  /** The pod has changed, or something that its volumes show: those who have them open see it. */
  async refresh(pod: Pod): Promise<void> {
    const opened = this.#pods.get(pod.metadata.uid ?? "");
    if (!opened) return;
    for (const { space } of opened.spaces.values()) (await space.catch(() => undefined))?.update(pod);
    await opened.volumes.refresh(pod);
  }

  /** Whether anybody has looked into a pod. */
  has(uid: string): boolean {
    return this.#pods.has(uid);
  }

  /** A run of a container is over: whoever still listens in it no longer does. */
  close(uid: string, name: string): void {
    this.#pods.get(uid)?.spaces.get(name)?.end.abort();
  }

  drop(uid: string): void {
    for (const { end } of this.#pods.get(uid)?.spaces.values() ?? []) end.abort();
    this.#pods.delete(uid);
  }

  #openPod(site: SpaceSite, pod: Pod): OpenPod {
    const host = { ...site, tokens: new PodTokens(site.client, site.clock, pod) };
    return { host, volumes: new PodVolumes(host, this.#lasting, pod), spaces: new Map() };
  }
}

async function spaceOf(
  { host, volumes }: OpenPod,
  { images, network, clock, place }: SpaceSite,
  pod: Pod,
  container: Container,
  log: (text: string | Uint8Array) => void,
  over: AbortSignal,
): Promise<ContainerSpace> {
  const image = images.find(container.image) ?? {};
  const env = await insideEnvironment(host, pod, container);
  const mounts = await volumes.mountsOf(container, env);
  const wordsPath = container.terminationMessagePath ?? LAST_WORDS;
  const words = regularFile("", { mode: 0o666 });
  mounts.set(wordsPath, { node: words, type: "ext4", readOnly: false });
  const control = new ControlGroup(pod, container);
  mounts.set("/sys/fs/cgroup", { node: control.root, type: "cgroup2", readOnly: true });
  const user = userOf(pod, container, image);
  const net = network.of(pod, place.podIP, over);
  const own = rootFiles({
    now: clock.now(),
    hostName: net.hostName,
    hosts: hostsText(pod, place.podIP),
    resolver: resolverText(pod),
    settings: Object.fromEntries(pod.spec?.securityContext?.sysctls?.map(({ name, value }) => [name, value]) ?? []),
    files: image.files ?? {},
  });
  const standing = new Map([...mounts].map(([path, mount]) => [ensure(own, path), mount]));
  const readOnly = container.securityContext?.readOnlyRootFilesystem ?? false;
  const root: Mount = { type: "overlay", readOnly, node: own };
  const files = new FileSystem(root, standing, () => clock.now(), user);
  const cwd = container.workingDir ?? image.workingDir ?? "/";
  const commands = image.commands ?? {};
  const userland = new Userland({ pod, container, env, files, user, network: net, clock, cwd, commands, log });
  return {
    userland,
    argv: commandLine(image, container).map((word) => expand(word, env)),
    update: (changed) => control.update(changed),
    lastWords: () => Buffer.from(words.data).subarray(0, LONGEST_WORDS).toString("utf8"),
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
