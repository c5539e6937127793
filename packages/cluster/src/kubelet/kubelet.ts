import type { ApiServer } from "@konverge/apiserver";
import {
  type Clock,
  compareVersions,
  isNotFound,
  type KindRef,
  type KubeObject,
  keyOf,
  type ObjectKey,
  parseJson,
  sleep,
  unscaled,
} from "@konverge/core";
import { type Container, DaemonSet, Node, Pod } from "@konverge/kinds";
import { type CacheView, EventRecorder } from "@konverge/runtime";
import { LogSpace } from "../images/container-log.ts";
import type { Images } from "../images/image.ts";
import { type ProgramRun, startProgram } from "../images/program.ts";
import { startProblem } from "../images/understood.ts";
import type { NodePulse } from "../parts/node-pulse.ts";
import type { ComponentContext, ControlPlaneComponent, RunningComponent } from "../parts/part.ts";
import { isSimulated } from "../parts/simulated-node.ts";
import type { ApiServerAddress } from "../streams/cluster-network.ts";
import { ExposedPorts } from "../streams/exposed-ports.ts";
import { PodNetwork } from "../streams/pod-network.ts";
import { rejectionOf } from "./admission.ts";
import { AttachedVolumes } from "./attached-volumes.ts";
import { ConfigSource } from "./config-source.ts";
import { ContainerRuntime } from "./container-runtime.ts";
import { Heartbeats } from "./heartbeats.ts";
import { addressOf, capacityOf, createNode, isSilent, isUp, reportUp } from "./node-keeper.ts";
import type { NodeShape } from "./node-shape.ts";
import { nonRootProblem } from "./non-root.ts";
import { type PodHost, PodWorker } from "./pod-worker.ts";
import { checkProbe } from "./probe-check.ts";
import type { Room } from "./resize.ts";
import { subPathProblem } from "./sub-path.ts";

/** What the nodes of a cluster are like. */
export interface KubeletOptions {
  nodes: readonly NodeShape[];
  images: Images;
  /** Make the nodes with the cluster, not with the first object that needs them. */
  atOnce?: boolean;
}

/** A node, as its kubelet knows it. */
interface KnownNode {
  readonly index: number;
  silent: boolean;
  readonly used: Set<number>;
  readonly workers: Set<PodWorker>;
}

/** How long programs are given to end with their cluster, in milliseconds. */
const LAST_GRACE = 5_000;
/** And how long it may take to clear away what they leave. */
const CLEARING = 2_000;
/** The taint of nodes that have not been heard of. */
const NEW_NODE = "node.kubernetes.io/not-ready";
/** Milliseconds that new nodes are waited for. */
const OPENING = 2_000;
/** How often a node checks the storage usage of its pods, in milliseconds. */
const STORAGE_CHECK = 10_000;

const STARTS_WITH: readonly KindRef<KubeObject>[] = [Pod, DaemonSet, Node];

/**
 * All nodes of a cluster, and the pods on them.
 *
 * It creates the configured nodes, adopts those that users create, renews their leases, and gives each pod that is bound to one of
 * them a {@link PodWorker}. It ignores nodes that another kubelet reports, and their pods.
 */
export class Kubelet {
  readonly #options: KubeletOptions;
  readonly #workers = new Map<ObjectKey, PodWorker>();
  readonly #nodes = new Map<string, KnownNode>();
  /** The pods with a deferred resize. */
  readonly #deferred = new Set<PodWorker>();
  readonly #nodesMade = Promise.withResolvers<void>();
  readonly #programs = new Set<ProgramRun>();
  /** The cluster ends: a program that ends with it is not started again. */
  #ending = false;
  readonly #exposed = new ExposedPorts();
  readonly #logs = new LogSpace();
  /** Reaches the ports of pods. */
  readonly network: PodNetwork;
  #containerRuntime: ContainerRuntime | undefined;
  #volumes: AttachedVolumes | undefined;
  /** The store that the simulated kube-proxy and DNS read directly; set when there is a server. */
  store: ApiServer["store"] | undefined;
  /** Where programs in pods reach the API server; undefined while it has no port. */
  apiServer: ApiServerAddress | undefined;

  constructor(options: KubeletOptions) {
    this.#options = options;
    this.network = new PodNetwork({
      exposed: this.#exposed,
      image: (reference) => options.images.find(reference),
      isReal: (name) => {
        const entry = this.store?.collection("/nodes").get(name);
        return entry !== undefined && !isSimulated(parseJson(entry.text) as Node);
      },
    });
  }

  /** As a part of the cluster. */
  get part(): ControlPlaneComponent {
    return {
      name: "kubelet",
      startsWith: this.#options.atOnce ? "cluster" : STARTS_WITH,
      fieldManager: "kubelet",
      start: (context) => this.#start(context),
    };
  }

  /** The pod at work, if it runs on one of these nodes. */
  worker(key: ObjectKey): PodWorker | undefined {
    return this.#workers.get(key);
  }

  /** Resolves when the configured nodes are created and accept pods. */
  get nodesMade(): Promise<void> {
    return this.#nodesMade.promise;
  }

  /** The simulated container runtime. Throws before there are nodes. */
  get containerRuntime(): ContainerRuntime {
    if (!this.#containerRuntime) throw new Error("this cluster has no nodes yet");
    return this.#containerRuntime;
  }

  nodeNames(): string[] {
    return [...this.#nodes.keys()];
  }

  podsOn(node: string): Pod[] {
    return Array.from(this.#workers.values(), ({ pod }) => pod).filter(({ spec }) => spec?.nodeName === node);
  }

  workers(): IterableIterator<PodWorker> {
    return this.#workers.values();
  }

  async #start(context: ComponentContext): Promise<RunningComponent> {
    const { client, cache, clock, pulse } = context;
    this.#containerRuntime = new ContainerRuntime({
      images: this.#options.images,
      exposed: this.#exposed,
      pods: this.network,
      store: this.store!,
      client,
      clock,
      workers: () => this.#workers.values(),
      podsOn: (node) => this.podsOn(node),
      nodeAt: (ip) => [...this.#nodes].find(([, { index, silent }]) => !silent && addressOf(index).hostIP === ip)?.[0],
      storageExceeded: (pod) => {
        const check = () => this.#workers.get(keyOf(pod))?.advance();
        clock.after(STORAGE_CHECK, check, { label: `kubelet: storage of ${keyOf(pod)}` });
      },
      apiServer: () => this.apiServer,
    });
    const nodes = cache.use(Node);
    const pods = cache.use(Pod);
    const config = new ConfigSource(cache);
    this.#volumes = new AttachedVolumes(context, config, (name) => {
      const node = this.#nodes.get(name);
      return node?.silent ? undefined : node?.workers;
    });
    await Promise.all([nodes.whenSynced(), pods.whenSynced(), config.whenSynced()]);
    pods.addIndex("node", ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []));
    for (const [index, shape] of this.#options.nodes.entries()) {
      if (!nodes.get(shape.name)) await createNode(client, clock, shape, index);
    }
    this.#awaitOpenNodes(nodes, clock);
    const recorder = new EventRecorder({ client, clock, component: "kubelet", instance: "kubelet" });
    const take = (pod: Pod) => this.#take(context, config, recorder, pod);
    const awake = () => [...this.#nodes].filter(([, { silent }]) => !silent).map(([name]) => name);
    const heartbeats = new Heartbeats(client, clock, pulse, awake);
    this.#followNodes(context, heartbeats, nodes, pods, take);
    pods.subscribe(({ type, object, key }) => {
      if (type === "deleted") {
        this.#drop(key);
        for (const worker of [...this.#deferred])
          if (worker.pod.spec?.nodeName === object.spec?.nodeName) worker.roomChanged();
      } else take(object);
    });
    config.onChange((namespace) => {
      for (const worker of this.#workers.values()) {
        if (namespace !== undefined && worker.pod.metadata.namespace !== namespace) continue;
        this.#volumes?.changedOn(worker.pod.spec?.nodeName ?? "");
        this.containerRuntime.refresh(worker.asGiven);
        worker.configChanged();
      }
    });
    return {
      stop: async () => {
        heartbeats.stop();
        await this.#volumes?.stop();
        await this.#endPrograms(clock);
        for (const key of [...this.#workers.keys()]) this.#drop(key);
      },
    };
  }

  /** Kills the containers of a pod, as a crash does. False if it runs on no simulated node. */
  crash(pod: ObjectKey): boolean {
    const worker = this.#workers.get(pod);
    worker?.crash();
    return worker !== undefined;
  }

  /** A node that is new takes no pods until the node controller has heard of it. */
  #awaitOpenNodes(nodes: CacheView<Node>, clock: Clock): void {
    const closed = new Set(this.#options.nodes.map(({ name }) => name));
    if (closed.size === 0) {
      this.#nodesMade.resolve();
      return;
    }
    const timer = clock.after(OPENING, () => this.#nodesMade.resolve(), { label: "kubelet: new nodes" });
    nodes.subscribe(({ key, object }) => {
      if (closed.size === 0 || object.spec?.taints?.some((taint) => taint.key === NEW_NODE)) return;
      closed.delete(key);
      if (closed.size > 0) return;
      timer.cancel();
      this.#nodesMade.resolve();
    });
  }

  /** They are asked to end, and killed if they do not. */
  async #endPrograms(clock: Clock): Promise<void> {
    this.#ending = true;
    for (const program of this.#programs) program.stop();
    await this.#allOver(clock, LAST_GRACE);
    for (const program of this.#programs) program.kill();
    // What was made for them is removed after they have ended.
    await this.#allOver(clock, CLEARING);
  }

  /** Waits for the programs that are there, but not longer than that. */
  async #allOver(clock: Clock, ms: number): Promise<void> {
    if (this.#programs.size === 0) return;
    const over = new AbortController();
    const late = sleep(clock, ms, { signal: over.signal, label: "kubelet: last programs" }).catch(() => {});
    await Promise.race([Promise.all([...this.#programs].map((program) => program.over)), late]);
    over.abort();
  }

  #followNodes(
    { client, clock, pulse, log }: ComponentContext,
    heartbeats: Heartbeats,
    nodes: CacheView<Node>,
    pods: CacheView<Pod>,
    take: (pod: Pod) => void,
  ): void {
    let count = 0;
    const wanted = new Map(this.#options.nodes.map(({ name }, index) => [name, index]));
    nodes.subscribe(({ type, object }) => {
      const { name } = object.metadata;
      if (type === "deleted") {
        this.#nodes.delete(name);
        pulse.set(name, false);
        return;
      }
      if (!isSimulated(object)) {
        this.#cede(name, pulse);
        return;
      }
      let known = this.#nodes.get(name);
      const wasSilent = known?.silent ?? true;
      if (!known) {
        const index = wanted.get(name) ?? this.#options.nodes.length + count++;
        known = { index, silent: false, used: new Set(), workers: new Set() };
        this.#nodes.set(name, known);
      }
      known.silent = isSilent(object);
      if (known.silent) {
        // It was alive until now, which has not been reported for some time.
        if (!wasSilent) void heartbeats.renew(name).then(() => pulse.set(name, false));
        return;
      }
      if (wasSilent) {
        pulse.set(name, true);
        void heartbeats.renew(name);
      }
      if (!isUp(object)) {
        reportUp(client, clock, object, known.index, this.#options.nodes[known.index]).catch((error: unknown) =>
          log.warn({ err: error, node: name }, `the status of node ${name} could not be written`),
        );
      }
      if (wasSilent) for (const key of pods.find("node", name)) take(pods.get(key)!);
      this.#volumesChanged(known, name);
    });
  }

  /** Another kubelet reports the node from now on: what runs there is that kubelet's to say. */
  #cede(name: string, pulse: NodePulse): void {
    if (!this.#nodes.has(name)) return;
    for (const [key, { pod }] of [...this.#workers]) if (pod.spec?.nodeName === name) this.#drop(key);
    this.#nodes.delete(name);
    pulse.set(name, false);
  }

  #take(context: ComponentContext, config: ConfigSource, recorder: EventRecorder, pod: Pod): void {
    const { name, namespace, uid, resourceVersion } = pod.metadata;
    const node = this.#nodes.get(pod.spec?.nodeName ?? "");
    if (!node || node.silent) return;
    const key = `${namespace}/${name}`;
    let worker = this.#workers.get(key);
    if (worker && worker.pod.metadata.uid !== uid) {
      this.#drop(key);
      worker = undefined;
    }
    if (worker) {
      // The response to our own write may be newer than the watch event.
      const order = compareVersions(resourceVersion ?? "", worker.pod.metadata.resourceVersion ?? "");
      if (order === 0) worker.share(pod);
      if (order > 0) {
        worker.update(pod);
        this.containerRuntime.refresh(worker.asGiven);
        this.#volumes?.podChanged(pod);
        if (!worker.isMounted) this.#volumesChanged(node, pod.spec?.nodeName ?? "");
      }
      return;
    }
    const { phase } = pod.status ?? {};
    if ((phase === "Succeeded" || phase === "Failed") && !pod.metadata.deletionTimestamp) return;
    if (!pod.status?.startTime && !pod.metadata.deletionTimestamp && this.#rejects(context, recorder, pod)) return;
    worker = new PodWorker(this.#hostOf(context, config, recorder, pod, node), pod);
    this.#workers.set(key, worker);
    node.workers.add(worker);
    this.#volumes?.podChanged(pod);
    worker.advance();
  }

  /** The volumes of a node, or those that its pods use, have changed: pods that wait for volumes check again. */
  #volumesChanged(node: KnownNode, name: string): void {
    if (node.silent) return;
    this.#volumes?.changedOn(name);
    for (const worker of node.workers) worker.volumesChanged();
  }

  /** A pod that its node does not admit has failed: its controller may create another. */
  #rejects(context: ComponentContext, recorder: EventRecorder, pod: Pod): boolean {
    const { client, cache, log } = context;
    const node = cache.use(Node).get(pod.spec?.nodeName ?? "");
    const rejection = rejectionOf(pod, node, this.#roomOn(context, pod.spec?.nodeName ?? ""));
    if (!rejection) return false;
    const { reason, message } = rejection;
    recorder.about(pod).warning(reason, message);
    const status = { phase: "Failed" as const, reason, message: `Pod was rejected: ${message}` };
    client.patchStatus(Pod, keyOf(pod), { merge: { status } }).catch((error: unknown) => {
      if (!isNotFound(error)) log.warn({ err: error, pod: keyOf(pod) }, "a pod could not be rejected");
    });
    return true;
  }

  /** What a node has, and what has been given to the pods on it. */
  #roomOn({ cache }: ComponentContext, name: string): Room {
    const known = this.#nodes.get(name);
    return {
      allocatable:
        cache.use(Node).get(name)?.status?.allocatable ?? capacityOf(this.#options.nodes[known?.index ?? -1]),
      others: [...(known?.workers ?? [])].map(({ pod, containers }) => {
        const given = new Map(containers.map((one) => [one.spec.name, one.resources]));
        const as = (container: Container) => ({ ...container, resources: given.get(container.name) }) as Container;
        return { ...pod, spec: { ...pod.spec!, containers: pod.spec!.containers.map(as) } };
      }),
    };
  }

  #hostOf(
    context: ComponentContext,
    config: ConfigSource,
    recorder: EventRecorder,
    pod: Pod,
    node: KnownNode,
  ): PodHost {
    const { client, clock, log } = context;
    const { images } = this.#options;
    const { hostIP: ownIP, podPrefix } = addressOf(node.index);
    // A pod of a cluster that this one continues has the address that its node had there.
    const hostIP = pod.status?.hostIP ?? ownIP;
    const podIP = pod.spec?.hostNetwork ? hostIP : (pod.status?.podIP ?? `${podPrefix}.${freeNumber(node.used)}`);
    const place = { hostIP, podIP };
    if (podIP !== hostIP) node.used.add(Number(podIP.slice(podIP.lastIndexOf(".") + 1)));
    return {
      client,
      clock,
      place,
      logs: this.#logs,
      room: () => this.#roomOn(context, pod.spec?.nodeName ?? ""),
      deferResize: (worker, isDeferred) =>
        void (isDeferred ? this.#deferred.add(worker) : this.#deferred.delete(worker)),
      resized: (worker) => void this.containerRuntime.refresh(worker.asGiven),
      events: (about) => recorder.about(about),
      failed: (about, error) =>
        log.error({ err: error, pod: keyOf(about) }, `${keyOf(about)} could not go on: ${String(error)}`),
      image: (reference) => images.find(reference),
      configProblem: (about, container) =>
        nonRootProblem(about, container, images.find(container.image)) ??
        config.problemOf(about, container) ??
        subPathProblem(about, container, place),
      volumeProblem: (about) => config.volumeProblemOf(about),
      unattached: (about) => this.#volumes?.unattached(about) ?? [],
      exclusiveProblem: (about) => this.#volumes?.exclusiveProblem(about),
      storageProblem: (about) => this.containerRuntime.storageProblem(about),
      startProblem: (container) => startProblem(images.find(container.image), container),
      runsInside: (container, pod) => this.containerRuntime.runsInside(container, pod),
      run: (about, container, id, streams, ended) => {
        const { log } = streams;
        if (this.#ending) return undefined;
        const { apiServer } = this;
        const site = { client, clock, images, exposed: this.#exposed, place, apiServer };
        const warn = (reason: string, message: string) => recorder.about(about).warning(reason, message);
        const run =
          startProgram(site, about, container, { log, warn }, ended) ??
          this.containerRuntime.run({ pod: about, place, container, id }, streams, ended);
        this.#programs.add(run);
        void run.over.then(() => this.#programs.delete(run));
        return run;
      },
      hook: (about, container, id, handler) =>
        this.containerRuntime.hook({ pod: about, place, container, id, log: this.#logOf(about, container) }, handler),
      probe: (about, container, id, probe) => {
        const where = { pod: about, place, container, id, log: this.#logOf(about, container) };
        const image = (name: string | undefined) => images.find(name);
        const host = { network: this.network, clock: unscaled(clock), image, containerRuntime: this.containerRuntime };
        return checkProbe(host, where, probe);
      },
    };
  }

  #logOf(pod: Pod, { name }: Container): (text: string | Uint8Array) => void {
    return (text) => {
      const container = this.#workers.get(keyOf(pod))?.containers.find(({ spec }) => spec.name === name);
      container?.openLog().write(Buffer.from(text as string).toString("utf8"));
    };
  }

  #drop(key: ObjectKey): void {
    const worker = this.#workers.get(key);
    if (!worker) return;
    worker.discard();
    this.#deferred.delete(worker);
    this.#containerRuntime?.drop(worker.pod.metadata.uid ?? "");
    this.#workers.delete(key);
    const node = this.#nodes.get(worker.pod.spec?.nodeName ?? "");
    node?.workers.delete(worker);
    const { podIP } = worker.place;
    node?.used.delete(Number(podIP.slice(podIP.lastIndexOf(".") + 1)));
    if (node) this.#volumesChanged(node, worker.pod.spec?.nodeName ?? "");
  }
}

/** The lowest number that is free; the first is the node's own. Numbers may be shared once all are taken. */
function freeNumber(used: ReadonlySet<number>): number {
  for (let number = 2; number < 255; number++) if (!used.has(number)) return number;
  return 254;
}
