import type { ApiServer } from "@konverge/apiserver";
import type { Client } from "@konverge/client";
import { type Clock, sleep } from "@konverge/core";
import type { Container, LifecycleHandler, Pod } from "@konverge/kinds";
import { runsBorrowedProgram } from "../images/borrowed-programs.ts";
import {
  type ContainerSpace,
  ContainerSpaces,
  commandLine,
  type MeasuredUsage,
  type SpaceSite,
} from "../images/container-space.ts";
import type { Images } from "../images/image.ts";
import { type ProgramRun, startInside } from "../images/program.ts";
import type { ContainerStreams, EndedRun, Place } from "../images/run.ts";
import { storageProblem } from "../images/storage-limits.ts";
import { isUnderstood } from "../images/understood.ts";
import { ClusterNames } from "../streams/cluster-names.ts";
import { type ApiServerAddress, ClusterNetwork, type PlacedPod } from "../streams/cluster-network.ts";
import type { ExposedPorts } from "../streams/exposed-ports.ts";
import { NetworkPolicies } from "../streams/network-policies.ts";
import { NodePorts } from "../streams/node-ports.ts";
import { requestOver } from "../streams/pod-http.ts";
import type { PodNetwork } from "../streams/pod-network.ts";
import { namedPort } from "../streams/service-backend.ts";
import { ServiceDirectory } from "../streams/service-directory.ts";
import { storedServices } from "../streams/service-source.ts";
import { Machine } from "../userland/limits/machine.ts";
import type { Streams } from "../userland/process.ts";
import { outcomeOf } from "./commands.ts";
import { ExecOutput } from "./exec-output.ts";
import { KUBELET_PORT, kubeletApi } from "./kubelet-api.ts";

/** The dependencies of a {@link ContainerRuntime}. */
export interface ContainerRuntimeOptions {
  readonly images: Images;
  readonly exposed: ExposedPorts;
  readonly pods: PodNetwork;
  readonly store: ApiServer["store"];
  readonly client: Client;
  readonly clock: Clock;
  workers(): Iterable<PlacedPod>;
  podsOn(node: string): readonly Pod[];
  /** The simulated node at an address, while its kubelet answers. */
  nodeAt(ip: string): string | undefined;
  /** The files of a pod have passed one of its limits. */
  storageExceeded(pod: Pod): void;
  apiServer(): ApiServerAddress | undefined;
}

/** A run of a container, and where it is. */
export interface RunTarget {
  readonly pod: Pod;
  readonly place: Place;
  readonly container: Container;
  /** Names the run. */
  readonly id: string;
  log(text: string | Uint8Array): void;
}

/** How long a node takes to observe that a stopped container has ended, in milliseconds. */
const NOTICE = 1_000;
/** How often volumes are brought up to date besides, in milliseconds: tokens expire without an event. */
const REFRESH = 60_000;

/** The simulated container runtime: the commands, files, environment variables and network of containers. */
export class ContainerRuntime {
  readonly #options: ContainerRuntimeOptions;
  readonly #spaces: ContainerSpaces;
  readonly #network: ClusterNetwork;
  /** The containers whose own command is interpreted. */
  readonly #interpreted = new Set<string>();

  constructor(options: ContainerRuntimeOptions) {
    this.#options = options;
    const { clock, pods, store } = options;
    this.#spaces = new ContainerSpaces(new Machine(clock), (pod) => options.storageExceeded(pod));
    const directory = new ServiceDirectory(storedServices(store));
    const names = new ClusterNames(directory);
    const { workers, apiServer } = options;
    const policies = new NetworkPolicies(store);
    const podAddresses = (hostIP: string) =>
      new Set([...workers()].filter(({ place }) => place.hostIP === hostIP).map(({ place }) => place.podIP));
    const kubelet = {
      port: KUBELET_PORT,
      of: (node: string) => kubeletApi({ node, client: options.client, pods: () => options.podsOn(node) }),
    };
    const nodePorts = new NodePorts({ clock, directory, nodeAt: options.nodeAt, podAddresses, kubelet });
    this.#network = new ClusterNetwork({ clock, pods, directory, names, policies, nodePorts, workers, apiServer });
  }

  /**
   * Whether the command of a container is interpreted. A command that only waits and writes is planned instead, unless the
   * container has probes or hooks: it needs no process, and continues when its cluster is restarted.
   */
  runsInside(container: Container, pod: Pod): boolean {
    const image = this.#options.images.find(container.image);
    if (!this.#isUnderstood(container, pod)) return false;
    const { livenessProbe, readinessProbe, startupProbe, lifecycle } = container;
    if (image?.commands || livenessProbe || readinessProbe || startupProbe || lifecycle) return true;
    return outcomeOf(container) === undefined;
  }

  #isUnderstood(container: Container, pod: Pod): boolean {
    const image = this.#options.images.find(container.image);
    if (!isUnderstood(image, container)) return false;
    const isPretended = (other: Container) =>
      this.#options.images.find(other.image)?.run === undefined && !this.#isUnderstood(other, pod);
    return !runsBorrowedProgram(pod, container, commandLine(image ?? {}, container), isPretended);
  }

  /** Runs what a container says. */
  run(where: Omit<RunTarget, "log">, streams: ContainerStreams, ended: EndedRun): ProgramRun {
    const { log } = streams;
    const write = (text: string | Uint8Array) =>
      log.write(typeof text === "string" ? text : Buffer.from(text).toString());
    const run = noticedLate(this.#options.clock, ended, (onEnd) =>
      startInside(this.#open({ ...where, log: write }), streams, onEnd),
    );
    const { uid = "" } = where.pod.metadata;
    const key = `${uid} ${where.container.name}`;
    this.#interpreted.add(key);
    void run.over.then(() => {
      this.#interpreted.delete(key);
      this.#spaces.close(uid, where.container.name);
    });
    this.#keepFresh(where.pod, uid);
    return run;
  }

  /** Carries out a command in a container that runs. */
  async execute(
    where: RunTarget,
    argv: readonly string[],
    streams: Partial<Streams>,
    signal: AbortSignal,
  ): Promise<number> {
    const { userland } = await this.#open(where);
    return userland.run(argv, streams, { kill: signal });
  }

  /** Whether a container has a command of that name. */
  async has(where: RunTarget, name: string): Promise<boolean> {
    return (await this.#open(where)).userland.find(name) !== undefined;
  }

  /** Carries out a lifecycle hook: what went wrong, or undefined. */
  async hook(where: RunTarget, { exec, httpGet, sleep: pause }: LifecycleHandler): Promise<string | undefined> {
    const { clock, pods } = this.#options;
    const { pod, place, container } = where;
    try {
      if (pause) await sleep(clock, pause.seconds * 1000, { label: `kubelet: hook of ${pod.metadata.name}` });
      if (exec) {
        const output = new ExecOutput();
        const argv = exec.command ?? [];
        const code = await this.execute(where, argv, output, new AbortController().signal);
        if (code !== 0) return `command '${argv.join(" ")}' exited with ${code}: ${output.text}`;
      }
      if (httpGet) {
        const { path = "/", scheme = "HTTP", httpHeaders = [], host = place.podIP } = httpGet;
        const named = typeof httpGet.port === "string" && !/^\d+$/.test(httpGet.port);
        const port = named ? (namedPort(pod, String(httpGet.port)) ?? 0) : Number(httpGet.port);
        const network = this.#network.of(pod, place.podIP, new AbortController().signal);
        const connection = host === place.podIP ? await pods.dial(pod, port) : await network.connect(host, port);
        const response = await requestOver(connection, {
          method: "GET",
          path,
          headers: {
            host: `${host}:${port}`,
            ...Object.fromEntries(httpHeaders.map(({ name, value }) => [name, value])),
          },
          ...(scheme === "HTTPS" && { tls: { rejectUnauthorized: false } }),
        });
        response.resume();
      }
      return undefined;
    } catch (error) {
      return `${container.name}: ${error instanceof Error ? error.message : String(error)}`;
    }
  }

  /** The pod has changed, or what its volumes show. */
  refresh(pod: Pod): void {
    if (this.#spaces.has(pod.metadata.uid ?? "")) void this.#spaces.refresh(pod).catch(() => {});
  }

  drop(uid: string): void {
    this.#spaces.drop(uid);
    const claims = this.#options.store.collection("/persistentvolumeclaims");
    this.#spaces.sweep((namespace, name) => claims.get(`${namespace}/${name}`) !== undefined);
  }

  /** What an interpreted container uses; undefined of one that only seems to run. */
  usage({ metadata }: Pod, container: string): MeasuredUsage | undefined {
    const { uid = "" } = metadata;
    return this.#interpreted.has(`${uid} ${container}`) ? this.#spaces.usage(uid, container) : undefined;
  }

  /** Which limit of its storage a pod has passed, in a kubelet's words. */
  storageProblem(pod: Pod): string | undefined {
    const { uid = "" } = pod.metadata;
    return this.#spaces.has(uid) ? storageProblem(pod, this.#spaces.written(uid)) : undefined;
  }

  #open({ pod, place, container, id, log }: RunTarget): Promise<ContainerSpace> {
    const { client, clock, images, exposed, apiServer } = this.#options;
    const site: SpaceSite = { client, clock, images, exposed, place, apiServer: apiServer(), network: this.#network };
    return this.#spaces.open(site, pod, container, id, log);
  }

  #keepFresh(pod: Pod, uid: string): void {
    const later = () => {
      if (!this.#spaces.has(uid)) return;
      const now = [...this.#options.workers()].find((one) => one.pod.metadata.uid === uid)?.pod;
      if (now) this.refresh(now);
      this.#keepFresh(pod, uid);
    };
    this.#options.clock.after(REFRESH, later, { background: true, label: "kubelet: volumes" });
  }
}

/** Nodes poll their containers: that a stopped container has ended is observed a little later. */
function noticedLate(clock: Clock, ended: EndedRun, start: (onEnd: EndedRun) => ProgramRun): ProgramRun {
  let stopped = false;
  const run = start((...how) => {
    if (!stopped) return ended(...how);
    clock.after(NOTICE, () => ended(...how), { label: "kubelet: ended container" });
  });
  return {
    ...run,
    stop: () => {
      stopped = true;
      run.stop();
    },
  };
}
