import type { Client } from "@konverge/client";
import { type Clock, isConflict, isNotFound, timestamp } from "@konverge/core";
import { Namespace, Node, Pod, PodDisruptionBudget } from "@konverge/kinds";
import { type CacheView, EventRecorder, type Log } from "@konverge/runtime";
import type { ComponentContext, ControlPlaneComponent, RunningComponent } from "../parts/part.ts";
import { ClusterState } from "./cluster-state.ts";
import { Devices } from "./devices.ts";
import { Filters, type Refusal, refusalText } from "./filters.ts";
import type { NodeInfo } from "./node-info.ts";
import { membersNeeded } from "./pod-groups.ts";
import { type PodInfo, podInfo } from "./pod-info.ts";
import { findVictims } from "./preemption.ts";
import { SchedulingQueue } from "./scheduling-queue.ts";
import { bestNode } from "./scores.ts";
import { type VolumeRules, Volumes } from "./volumes.ts";

const NAME = "default-scheduler";
/** Pods that are placed before others get a turn. */
const BATCH = 25;
/** A cluster smaller than this is searched whole; in a larger one a share of good nodes is enough. */
const SEARCHED_WHOLE = 100;
const EARLY = "waiting for its resource claims to be created";

type Outcome = { node: NodeInfo; volumes: VolumeRules | undefined } | { message: string; victims?: Victims };
type Victims = { node: NodeInfo; pods: readonly PodInfo[] };

/** Gives pods to nodes, as kube-scheduler does. */
export const scheduler: ControlPlaneComponent = {
  name: "kube-scheduler",
  startsWith: [Pod],
  fieldManager: "kube-scheduler",
  async start(context) {
    const running = new Scheduler(context);
    await running.start();
    return running;
  },
};

/**
 * The scheduler at work.
 *
 * Flow: a pod without a node → queue → filters → scores → the pod counts on its node from then on → binding. One that
 * finds no place says why, makes room by preemption if it may, and waits for a change.
 */
class Scheduler implements RunningComponent {
  readonly #context: ComponentContext;
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #state = new ClusterState();
  readonly #queue: SchedulingQueue;
  readonly #recorder: EventRecorder;
  readonly #pods: CacheView<Pod>;
  readonly #nodes: CacheView<Node>;
  readonly #namespaces: CacheView<Namespace>;
  readonly #budgets: CacheView<PodDisruptionBudget>;
  #volumes: Promise<Volumes> | undefined;
  #devices: Promise<Devices> | undefined;
  #startAt = 0;
  #running = false;
  #stopped = false;

  constructor(context: ComponentContext) {
    const { client, cache, clock, log } = context;
    this.#context = context;
    this.#client = client;
    this.#clock = clock;
    this.#log = log;
    this.#queue = new SchedulingQueue(clock);
    this.#recorder = new EventRecorder({ client, clock, component: NAME, instance: NAME });
    this.#pods = cache.use(Pod);
    this.#nodes = cache.use(Node);
    this.#namespaces = cache.use(Namespace);
    this.#budgets = cache.use(PodDisruptionBudget);
  }

  async start(): Promise<void> {
    const views = [this.#pods, this.#nodes, this.#namespaces, this.#budgets];
    await Promise.all(views.map((view) => view.whenSynced()));
    this.#nodes.subscribe(({ type, object }) => {
      if (type === "deleted") this.#state.removeNode(object.metadata.name);
      else if (this.#state.setNode(object)) this.#queue.moveAll();
    });
    this.#pods.subscribe(({ type, object }) => this.#podChanged(type === "deleted", object));
    await this.#context.pulse.nodesMade;
    this.#queue.onReady = () => this.#wake();
    this.#wake();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#queue.close();
  }

  #podChanged(isDeleted: boolean, pod: Pod): void {
    const { uid = "", deletionTimestamp } = pod.metadata;
    const { phase } = pod.status ?? {};
    const isOver = isDeleted || phase === "Succeeded" || phase === "Failed";
    if (isOver || (pod.spec?.nodeName && !isOver)) this.#queue.remove(uid);
    if (isOver) {
      this.#state.removeNomination(uid);
      if (this.#state.removePod(uid)) this.#queue.moveAll();
      return;
    }
    if (pod.spec?.nodeName) {
      const known = this.#state.placeOf(uid);
      this.#state.removeNomination(uid);
      this.#state.setPod(this.#read(pod));
      // A new pod may satisfy the affinity of others.
      if (!known) this.#queue.moveAll();
      return;
    }
    const isOurs = (pod.spec?.schedulerName ?? NAME) === NAME;
    if (!isOurs || deletionTimestamp || pod.spec?.schedulingGates?.length) {
      this.#queue.remove(uid);
      return;
    }
    if (this.#state.isAssumed(uid)) return;
    const info = this.#read(pod);
    if (info.nominated !== "") this.#state.nominate(info, info.nominated);
    this.#queue.add(info);
  }

  #read(pod: Pod): PodInfo {
    return podInfo(pod, (namespace) => this.#namespaces.get(namespace)?.metadata.labels ?? {});
  }

  #wake(): void {
    if (this.#running || this.#stopped) return;
    this.#running = true;
    this.#clock.post(() => void this.#work(), "scheduler");
  }

  async #work(): Promise<void> {
    for (let count = 0; count < BATCH; count++) {
      const pod = this.#stopped ? undefined : this.#queue.take();
      if (!pod) {
        this.#running = false;
        return;
      }
      try {
        if (pod.group === "") await this.#one(pod);
        else await this.#group(pod);
      } catch (error) {
        this.#log.warn({ err: error, object: pod.key }, `${pod.key} could not be scheduled: ${String(error)}`);
        if (!this.#state.isAssumed(pod.uid)) this.#giveBack(pod);
      }
    }
    this.#running = false;
    this.#wake();
  }

  async #one(pod: PodInfo): Promise<void> {
    const volumes = await this.#rulesFor(pod);
    if (volumes === "early") return this.#queue.giveBack(pod.uid);
    const outcome = this.#place(pod, volumes);
    if (!("node" in outcome)) return this.#failed(pod, outcome.message, outcome.victims);
    this.#state.removeNomination(pod.uid);
    this.#state.assume(pod, outcome.node.name);
    void this.#bind(pod, outcome.node.name, volumes?.waiting ?? []);
  }

  /** All of a group that wait find a place, at least as many as it needs, or none does. */
  async #group(first: PodInfo): Promise<void> {
    const needed = await membersNeeded(this.#client, this.#context.kinds, first);
    const pods = [first, ...this.#queue.takeGroup(first)];
    const onTheWay = new Set<PodInfo>();
    try {
      await this.#placeGroup(pods, needed, onTheWay);
    } catch (error) {
      // Pods that have a reservation and are not being bound give it up, and all of them are retried.
      for (const pod of pods) {
        if (onTheWay.has(pod)) continue;
        this.#state.forget(pod);
        this.#queue.giveBack(pod.uid);
      }
      throw error;
    }
  }

  async #placeGroup(pods: readonly PodInfo[], needed: number | undefined, onTheWay: Set<PodInfo>): Promise<void> {
    const first = pods[0]!;
    let there = 0;
    for (const other of this.#state.inNamespace(first.namespace)) if (other.group === first.group) there++;
    if (needed === undefined || pods.length + there < needed) {
      const why =
        needed === undefined
          ? `waiting for pod group "${first.group}" to be created`
          : `waiting for minCount pods from a gang to appear in scheduling queue (${pods.length + there} of ${needed})`;
      for (const pod of pods) await this.#failed(pod, `0/${this.#state.nodes.length} nodes are available: ${why}.`);
      return;
    }
    const placed: { pod: PodInfo; node: string; waiting: readonly string[] }[] = [];
    const refused: { pod: PodInfo; message: string }[] = [];
    for (const pod of pods) {
      const rules = await this.#rulesFor(pod);
      const volumes = rules === "early" ? undefined : rules;
      const outcome = rules === "early" ? { message: EARLY } : this.#place(pod, volumes);
      if ("node" in outcome) {
        this.#state.assume(pod, outcome.node.name);
        placed.push({ pod, node: outcome.node.name, waiting: volumes?.waiting ?? [] });
      } else refused.push({ pod, message: outcome.message });
    }
    if (placed.length + there >= needed) {
      for (const { pod, node, waiting } of placed) {
        onTheWay.add(pod);
        void this.#bind(pod, node, waiting);
      }
      for (const { pod, message } of refused) await this.#failed(pod, message);
      return;
    }
    for (const { pod } of placed) this.#state.forget(pod);
    const [reason] = refused;
    for (const pod of pods) {
      const own = refused.find((one) => one.pod === pod) ?? reason!;
      await this.#failed(pod, own.message);
    }
  }

  #place(pod: PodInfo, volumes: VolumeRules | undefined): Outcome {
    const { nodes } = this.#state;
    if (nodes.length === 0) return { message: "no nodes available to schedule pods" };
    const refusals = new Map<NodeInfo, Refusal>();
    const text = () =>
      refusalText(
        nodes.length,
        Array.from(refusals.values(), ({ reasons }) => reasons),
      );
    if (volumes?.problem !== undefined) {
      const { problem } = volumes;
      const unhelpful = refusalText(
        nodes.length,
        nodes.map(() => ["Preemption is not helpful for scheduling"]),
      );
      return { message: `0/${nodes.length} nodes are available: ${problem}. preemption: ${unhelpful}` };
    }
    const filters = new Filters(pod, this.#state, volumes);
    const nominated = this.#state.node(pod.nominated);
    if (nominated && !filters.judge(nominated)) return { node: nominated, volumes };
    const feasible = this.#feasible(filters, refusals);
    if (feasible.length > 0) {
      const node = bestNode(filters, feasible, this.#state, (count) => this.#clock.random.below(count));
      return { node, volumes };
    }
    const found = findVictims(pod, this.#state, volumes, refusals, [...this.#budgets.list()]);
    // Preemption frees no devices.
    const unhelpful = pod.deviceClaims.length > 0 ? "still not schedulable, " : "";
    if ("message" in found) return { message: `${text()} ${unhelpful}${found.message}` };
    return { message: text(), victims: { node: found.candidate.node, pods: found.candidate.victims } };
  }

  /** Nodes that the pod may be on, from where the last search ended: all of a small cluster, enough of a large one. */
  #feasible(filters: Filters, refusals: Map<NodeInfo, Refusal>): NodeInfo[] {
    const { nodes } = this.#state;
    const share = Math.max(5, 50 - nodes.length / 125) / 100;
    const enough =
      nodes.length < SEARCHED_WHOLE ? nodes.length : Math.max(SEARCHED_WHOLE, Math.floor(nodes.length * share));
    const found: NodeInfo[] = [];
    let searched = 0;
    for (; searched < nodes.length && found.length < enough; searched++) {
      const node = nodes[(this.#startAt + searched) % nodes.length]!;
      const refusal = filters.judge(node);
      if (refusal) refusals.set(node, refusal);
      else found.push(node);
    }
    this.#startAt = (this.#startAt + searched) % nodes.length;
    return found;
  }

  async #bind(pod: PodInfo, node: string, waiting: readonly string[]): Promise<void> {
    const { namespace, name, uid } = pod;
    try {
      if (waiting.length > 0) await (await this.#volumesNow()).bind(waiting, this.#state.node(node)!);
      if (pod.deviceClaims.length > 0) await (await this.#devicesNow()).bind(pod, this.#state.node(node)!);
      const target = { apiVersion: "v1", kind: "Node", name: node };
      const metadata = { name, namespace, uid };
      await this.#client.request({
        method: "POST",
        path: `/api/v1/namespaces/${namespace}/pods/${name}/binding`,
        body: { apiVersion: "v1", kind: "Binding", metadata, target },
      });
      this.#queue.remove(uid);
      this.#about(pod)?.normal("Scheduled", `Successfully assigned ${pod.key} to ${node}`, { action: "Binding" });
    } catch (error) {
      if (this.#stopped) return;
      this.#state.forget(pod);
      // A 404 concerns either the pod or one of its claims, which may be recreated.
      if (this.#pods.get(pod.key)?.metadata.uid !== uid) return this.#queue.remove(uid);
      if (!isConflict(error)) this.#log.warn({ err: error, object: pod.key }, `binding ${pod.key}: ${String(error)}`);
      this.#giveBack(pod);
    }
  }

  /** Binding failed for a reason that may not hold at the next attempt. */
  #giveBack({ uid }: PodInfo): void {
    this.#queue.giveBack(uid);
    this.#queue.moveAll();
  }

  async #failed(pod: PodInfo, message: string, victims?: Victims): Promise<void> {
    this.#about(pod)?.warning("FailedScheduling", message, { action: "Scheduling" });
    const stored = this.#pods.get(pod.key);
    const nominated = victims?.node.name ?? pod.nominated;
    if (victims) this.#state.nominate(pod, victims.node.name);
    this.#queue.giveBack(pod.uid);
    const before = stored?.status?.conditions?.find(({ type }) => type === "PodScheduled");
    if (before?.message !== message || nominated !== pod.nominated) {
      const condition = {
        type: "PodScheduled",
        status: "False",
        reason: "Unschedulable",
        message,
        lastProbeTime: null,
        lastTransitionTime: before?.status === "False" ? before.lastTransitionTime : timestamp(this.#clock),
        ...(stored?.metadata.generation && { observedGeneration: stored.metadata.generation }),
      };
      const status = { conditions: [condition], ...(nominated !== "" && { nominatedNodeName: nominated }) };
      await this.#client
        .patchStatus(Pod, pod.key, { strategic: { metadata: { uid: pod.uid }, status } as never })
        .catch((error: unknown) => {
          if (!isNotFound(error) && !isConflict(error)) throw error;
        });
    }
    for (const victim of victims?.pods ?? []) await this.#evict(victim, pod, victims!.node.name);
  }

  async #evict(victim: PodInfo, by: PodInfo, node: string): Promise<void> {
    const condition = {
      type: "DisruptionTarget",
      status: "True",
      reason: "PreemptionByScheduler",
      message: `${NAME}: preempting to accommodate a higher priority pod`,
      lastTransitionTime: timestamp(this.#clock),
    };
    try {
      const status = { conditions: [condition] };
      await this.#client.patchStatus(Pod, victim.key, {
        strategic: { metadata: { uid: victim.uid }, status } as never,
      });
      await this.#client.delete(Pod, victim.key, { preconditions: { uid: victim.uid } });
      const message = `Preempted by pod ${by.uid} on node ${node}`;
      this.#about(victim)?.normal("Preempted", message, { action: "Preempting" });
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }

  #about({ key }: PodInfo) {
    const pod = this.#pods.get(key);
    return pod && this.#recorder.about(pod);
  }

  /** What a pod's volumes and devices say about nodes; early: what it claims is not there yet. */
  async #rulesFor(pod: PodInfo): Promise<VolumeRules | "early" | undefined> {
    const volumes = pod.claims.length > 0 ? (await this.#volumesNow()).rulesFor(pod) : undefined;
    if (pod.deviceClaims.length === 0) return volumes;
    const devices = (await this.#devicesNow()).rulesFor(pod);
    if (devices.isEarly) return "early";
    return {
      problem: volumes?.problem ?? devices.problem,
      waiting: volumes?.waiting ?? [],
      exclusive: volumes?.exclusive ?? [],
      refuses: (node) => volumes?.refuses(node) ?? devices.refuses(node),
    };
  }

  #devicesNow(): Promise<Devices> {
    this.#devices ??= (async () => {
      const devices = new Devices(this.#client, this.#clock, this.#context.cache);
      await devices.whenSynced();
      devices.onChange(() => this.#queue.moveAll());
      return devices;
    })();
    return this.#devices;
  }

  #volumesNow(): Promise<Volumes> {
    this.#volumes ??= (async () => {
      const volumes = new Volumes(this.#client, this.#clock, this.#context.cache);
      await volumes.whenSynced();
      volumes.onChange(() => this.#queue.moveAll());
      return volumes;
    })();
    return this.#volumes;
  }
}
