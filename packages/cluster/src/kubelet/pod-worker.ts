import type { Client } from "@konverge/client";
import { type Clock, compareVersions, deepEqual, keyOf, sleep, type Timer } from "@konverge/core";
import {
  type Container,
  type ContainerStatus,
  type LifecycleHandler,
  Pod,
  type PodStatus,
  type Probe,
} from "@konverge/kinds";
import type { EventSink } from "@konverge/runtime";
import { behaviorOf } from "../images/behavior.ts";
import type { LogSpace } from "../images/container-log.ts";
import type { Image } from "../images/image.ts";
import type { ContainerStreams, EndedRun, Place, Run } from "../images/run.ts";
import { type ContainerHost, type Ended, type Role, SimulatedContainer } from "./container.ts";
import { podStatus } from "./pod-status.ts";
import { podStatusPatch } from "./pod-status-patch.ts";
import { PodResize, type Room, resizeProblem, restartsFor } from "./resize.ts";

/** What a pod needs of its node. */
export interface PodHost {
  readonly client: Client;
  readonly clock: Clock;
  readonly place: Place;
  readonly logs: LogSpace;
  /** The capacity of the node, and the other pods on it. */
  room(): Room;
  /** Whether a resize is deferred: {@link PodWorker.roomChanged} is called when the node may have capacity for it. */
  deferResize(worker: PodWorker, isDeferred: boolean): void;
  /** The containers have other resources than before. */
  resized(worker: PodWorker): void;
  events(pod: Pod): EventSink;
  /** Called with unexpected errors: the pod is retried a little later. */
  failed(pod: Pod, error: unknown): void;
  image(reference: string | undefined): Image | undefined;
  configProblem(pod: Pod, container: Container): string | undefined;
  /** Which limit of its storage the pod has passed. */
  storageProblem(pod: Pod): string | undefined;
  /** Why the pod's volumes cannot be mounted yet. */
  volumeProblem(pod: Pod): string | undefined;
  /** The volumes of the pod that its node does not have yet. */
  unattached(pod: Pod): readonly string[];
  /** Why the pod's volumes, once its node has them, cannot be mounted besides those of others. */
  exclusiveProblem(pod: Pod): string | undefined;
  startProblem(container: Container): string | undefined;
  runsInside(container: Container, pod: Pod): boolean;
  run(pod: Pod, container: Container, id: string, streams: ContainerStreams, ended: EndedRun): Run | undefined;
  hook(pod: Pod, container: Container, id: string, handler: LifecycleHandler): Promise<string | undefined>;
  /** Runs a probe; returns the failure, or undefined. */
  probe(pod: Pod, container: Container, id: string, probe: Probe): Promise<string | undefined>;
}

const NEVER = Number.POSITIVE_INFINITY;
/** Milliseconds to wait for volumes before an event reports it. */
const ATTACH_TIMEOUT = 123_000;
/** The wait after a status could not be written, in milliseconds. */
const RETRY = 1000;

/**
 * One pod on a simulated node, from its binding to its deletion.
 *
 * Flow: a change of the pod, or a timer, makes every container {@link SimulatedContainer.advance | advance}; what comes of
 * it is reported in the pod's status. There is one timer for the pod and one write under way at a time.
 */
export class PodWorker {
  readonly #host: PodHost;
  readonly #startTime: string;
  #pod: Pod;
  #containers: SimulatedContainer[] = [];
  #timer: Timer | undefined;
  #written = "";
  #writing = false;
  #again = false;
  #failure: { reason: string; message: string } | undefined;
  #mountProblem: string | undefined;
  /** Its volumes are mounted. They stay mounted, even if their sources are deleted. */
  #mounted: boolean;
  /** When an event reports that volumes are missing, in milliseconds since 1970. */
  #attachDeadline: number | undefined;
  readonly #resize = new PodResize();
  /** When the pod must have ended, in milliseconds since 1970. */
  #latest = NEVER;
  #deleted = false;
  #deleting = false;

  constructor(host: PodHost, pod: Pod) {
    this.#host = host;
    this.#pod = pod;
    this.#startTime = pod.status?.startTime ?? stamp(host.clock.now());
    this.#collect();
    this.#restore(pod.status);
    this.#mounted = this.#containers.some(({ state, last }) => state !== "waiting" || last !== undefined);
  }

  get pod(): Pod {
    return this.#pod;
  }

  get containers(): readonly SimulatedContainer[] {
    return this.#containers;
  }

  get place(): Place {
    return this.#host.place;
  }

  /** The pod with the resources that its containers have. */
  get asGiven(): Pod {
    return this.#resize.asGiven(this.#pod, this.#containers);
  }

  /** The pod has changed. */
  update(pod: Pod): void {
    this.#hold(pod);
    this.#collect();
    this.#giveResources();
    this.advance();
  }

  /** Takes a newer state. As on real nodes, one that differs in more than its status brings volumes up to date at once. */
  #hold(pod: Pod): void {
    const { labels, annotations, generation } = this.#pod.metadata;
    const { metadata } = pod;
    this.#pod = pod;
    const isStatusAlone =
      generation === metadata.generation &&
      deepEqual(labels, metadata.labels) &&
      deepEqual(annotations, metadata.annotations);
    if (!isStatusAlone) for (const container of this.#containers) container.refreshVolumes(pod);
  }

  /** Other pods were added or removed: the node may now have capacity for a deferred resize. */
  roomChanged(): void {
    if (this.#resize.problem === undefined) return;
    this.#giveResources();
    this.advance();
  }

  /** Allocates the requested resources to the containers, if the node has them. */
  #giveResources(): void {
    const asking = this.#containers.filter(({ spec, resources }) => !deepEqual(spec.resources, resources));
    if (asking.length === 0 && this.#resize.problem === undefined) return;
    const problem = asking.length === 0 ? undefined : resizeProblem(this.#pod, this.#host.room());
    const events = this.#host.events(this.#pod);
    if (problem !== undefined && problem !== this.#resize.problem)
      events.warning("ResizeDeferred", this.#resizeText("Deferred", problem));
    this.#resize.problem = problem;
    this.#host.deferResize(this, problem !== undefined);
    if (problem !== undefined || asking.length === 0) return;
    events.normal("ResizeStarted", this.#resizeText("started"));
    const host = this.#containerHost();
    for (const container of asking) {
      const isRestarted = container.state === "running" && restartsFor(container.spec, container.resources);
      this.#resize.give(container, host.clock.now(), isRestarted);
      if (isRestarted) container.stop(host, (this.#pod.spec?.terminationGracePeriodSeconds ?? 30) * 1000);
    }
  }

  /** Returns when to check again whether the resize is actuated. */
  #settleResources(): number {
    if (!this.#resize.isInProgress) return NEVER;
    const next = this.#resize.settle(this.#host.clock.now());
    if (this.#resize.isInProgress) return next;
    this.#host.events(this.#pod).normal("ResizeCompleted", this.#resizeText("completed"));
    this.#host.resized(this);
    return NEVER;
  }

  #resizeText(what: string, error?: string): string {
    const { metadata, spec } = this.#pod;
    const containers = spec?.containers.map(({ name, resources }) => ({ name, resources }));
    return `Pod resize ${what}: ${JSON.stringify({ containers, generation: metadata.generation, ...(error && { error }) })}`;
  }

  /** The very state that is known, as all others hold it: one of many pods in memory is enough. */
  share(pod: Pod): void {
    this.#pod = pod;
    this.#collect();
  }

  /** A ConfigMap, Secret or claim in its namespace has changed: containers that wait for it may continue. */
  configChanged(): void {
    if (this.#mountProblem !== undefined || this.#containers.some(({ state }) => state === "waiting")) this.advance();
  }

  /** What the node has, or what others on it use, is different. */
  volumesChanged(): void {
    if (!this.#mounted) this.advance();
  }

  /** Whether the pod has its volumes, and still uses them. */
  get isMounted(): boolean {
    const { phase } = this.#pod.status ?? {};
    return this.#mounted && phase !== "Succeeded" && phase !== "Failed";
  }

  /** Kills its containers as a crash does, with SIGKILL: its restart policy decides what comes next. */
  crash(): void {
    for (const container of this.#containers) container.crash(this.#host.clock.now());
    this.advance();
  }

  /** The pod is deleted from the server: everything that still runs is killed. */
  discard(): void {
    this.#deleted = true;
    this.#timer?.cancel();
    for (const container of this.#containers)
      if (container.state === "running") container.stop(this.#containerHost(), 0);
    for (const container of this.#containers) container.releaseLogs();
  }

  /** Does everything that is due, and reports it. The caller has other pods to handle: errors are retried here. */
  advance(): void {
    if (this.#deleted) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    try {
      this.#advance();
    } catch (error) {
      this.#host.failed(this.#pod, error);
      this.#retry();
    }
  }

  #advance(): void {
    const { metadata, status } = this.#pod;
    const isOver = status?.phase === "Succeeded" || status?.phase === "Failed";
    // Nothing holds it: the server takes it away with the same request that has marked it.
    if (isOver && metadata.deletionGracePeriodSeconds === 0 && !metadata.finalizers?.length) return;
    const due = metadata.deletionTimestamp ? this.#terminate() : isOver ? NEVER : this.#progress();
    const next = Math.min(due, this.#settleResources());
    if (!isOver || metadata.deletionTimestamp) this.#report();
    const { clock } = this.#host;
    if (next !== NEVER && !this.#deleted) {
      // A deadline that a pod may never reach does not keep a cluster from being idle.
      const background = next === this.#latest || next === this.#attachDeadline;
      const label = `kubelet: ${keyOf(this.#pod)}`;
      this.#timer = clock.after(next - clock.now(), () => this.advance(), { background, label });
    }
  }

  #progress(): number {
    const { clock } = this.#host;
    const host = this.#containerHost();
    if (this.#failure) return this.#endAll(host, 0);
    const limit = this.#limit(clock.now());
    if (limit <= clock.now()) return this.#endAll(host, 0);
    if (!this.#mounted) {
      const wait = this.#mount(host);
      if (wait !== undefined) return Math.min(limit, wait);
    }
    let next = limit;
    for (const container of this.#containers) {
      if (container.role !== "init" && container.role !== "sidecar") continue;
      next = Math.min(next, container.advance(host));
      const passed = container.role === "init" ? container.succeeded : container.started;
      if (!passed) return next;
    }
    const rest = this.#containers.filter(({ role }) => role === "main" || role === "ephemeral");
    for (const container of rest) next = Math.min(next, container.advance(host));
    const mains = rest.filter(({ role }) => role === "main");
    if (this.#allEnded(mains)) {
      // Sidecars have nothing left to stand by.
      for (const container of this.#containers)
        if (container.role === "sidecar") next = Math.min(next, container.stop(host, 0));
    }
    return next;
  }

  /** Mounts the volumes, or returns when to retry; a change of what they wait for triggers a retry as well. */
  #mount({ events }: ContainerHost): number | undefined {
    const setUp = this.#host.volumeProblem(this.#pod);
    const unattached = setUp === undefined ? this.#host.unattached(this.#pod) : [];
    if (unattached.length > 0) return this.#awaitAttached(unattached);
    const problem = setUp ?? this.#host.exclusiveProblem(this.#pod);
    if (problem !== this.#mountProblem && problem !== undefined) events.warning("FailedMount", problem);
    this.#mountProblem = problem;
    this.#mounted = problem === undefined;
    return this.#mounted ? undefined : NEVER;
  }

  #awaitAttached(volumes: readonly string[]): number {
    const { clock } = this.#host;
    this.#attachDeadline ??= clock.now() + ATTACH_TIMEOUT;
    if (clock.now() < this.#attachDeadline) return this.#attachDeadline;
    const names = volumes.join(" ");
    const late = `unmounted volumes=[${names}], unattached volumes=[${names}], failed to process volumes=[]`;
    const message = `Unable to attach or mount volumes: ${late}: context deadline exceeded`;
    this.#host.events(this.#pod).warning("FailedMount", message);
    this.#attachDeadline = NEVER;
    return NEVER;
  }

  /** The deadline of the pod, whatever its containers do. */
  #limit(now: number): number {
    const { spec } = this.#pod;
    const started = Date.parse(this.#startTime);
    const deadline = spec?.activeDeadlineSeconds === undefined ? NEVER : started + spec.activeDeadlineSeconds * 1000;
    const { evictAfter = NEVER } = behaviorOf(this.#pod, { name: "" });
    const evicted = started + evictAfter;
    const problem = this.#host.storageProblem(this.#pod);
    if (problem !== undefined) {
      this.#fail("Evicted", problem);
      return now;
    }
    if (deadline <= now) {
      this.#fail("DeadlineExceeded", "Pod was active on the node longer than the specified deadline");
    } else if (evicted <= now) {
      this.#fail("Evicted", "The node was low on resource: memory. ");
    }
    this.#latest = deadline;
    return Math.min(deadline, evicted);
  }

  #fail(reason: string, message: string): void {
    this.#failure = { reason, message };
    this.#host.events(this.#pod).warning(reason, message.trim());
  }

  #allEnded(mains: readonly SimulatedContainer[]): boolean {
    return mains.length > 0 && mains.every(({ state }) => state === "terminated");
  }

  #terminate(): number {
    const { metadata } = this.#pod;
    const host = this.#containerHost();
    const left = Date.parse(metadata.deletionTimestamp!) - this.#host.clock.now();
    if (!this.#deleting) {
      this.#deleting = true;
      for (const { spec, state } of this.#containers) {
        if (state === "running") host.events.normal("Killing", `Stopping container ${spec.name}`);
      }
    }
    return this.#endAll(host, Math.max(0, left));
  }

  #endAll(host: ContainerHost, grace: number): number {
    let next = NEVER;
    // Sidecars stand by the others to the end.
    const others = this.#containers.filter(({ role }) => role !== "sidecar");
    const stopped = others.every(({ state }) => state !== "running");
    for (const container of stopped || grace === 0 ? this.#containers : others) {
      const at = container.stop(host, grace);
      if (container.state === "running") next = Math.min(next, at);
    }
    return next;
  }

  get #finished(): boolean {
    return (
      this.#pod.metadata.deletionTimestamp !== undefined && this.#containers.every(({ state }) => state !== "running")
    );
  }

  #report(): void {
    if (this.#writing) {
      this.#again = true;
      return;
    }
    const status = podStatus({
      pod: this.#pod,
      place: this.#host.place,
      containers: this.#containers,
      failure: this.#failure,
      finished: this.#finished,
      startTime: this.#startTime,
      now: this.#host.clock.now(),
      resize: this.#resize,
    });
    const text = JSON.stringify(status);
    if (text === this.#written && !this.#finished) return;
    this.#writing = true;
    this.#write(status, text).then(
      () => this.#wrote(),
      () => this.#failed(),
    );
  }

  async #write(status: PodStatus, text: string): Promise<void> {
    const { client } = this.#host;
    const { uid = "" } = this.#pod.metadata;
    const key = keyOf(this.#pod);
    if (text !== this.#written) {
      const patch = { metadata: { uid }, status: podStatusPatch(this.#pod.status, status) };
      const pod = await client.patchStatus(Pod, key, { strategic: patch as never });
      this.#written = text;
      // The watch may have delivered a later change already.
      const { resourceVersion } = this.#pod.metadata;
      if (compareVersions(pod.metadata.resourceVersion, resourceVersion) > 0) this.#hold(pod);
    }
    if (!this.#finished) return;
    const { tearDown = 0 } = this.#host.image(undefined) ?? {};
    if (tearDown > 0) await sleep(this.#host.clock, tearDown);
    await client.delete(Pod, key, { gracePeriodSeconds: 0, preconditions: { uid } });
    this.#deleted = !this.#pod.metadata.finalizers?.length;
  }

  #wrote(): void {
    this.#writing = false;
    if (!this.#again || this.#deleted) return;
    this.#again = false;
    this.advance();
  }

  #failed(): void {
    this.#writing = false;
    this.#again = false;
    this.#retry();
  }

  /** If the pod was deleted or replaced, the watch reports that first: see {@link discard}. */
  #retry(): void {
    if (this.#deleted) return;
    this.#timer?.cancel();
    const { clock } = this.#host;
    this.#timer = clock.after(RETRY, () => this.advance(), { label: `kubelet: ${keyOf(this.#pod)}` });
  }

  #containerHost(): ContainerHost {
    const { clock } = this.#host;
    const pod = this.#pod;
    return {
      clock,
      pod,
      events: this.#host.events(pod),
      image: (reference) => this.#host.image(reference),
      configProblem: (container) => this.#host.configProblem(pod, container),
      startProblem: (container) => this.#host.startProblem(container),
      runsInside: (container) => this.#host.runsInside(container, this.#pod),
      run: (container, id, streams, ended) => this.#host.run(this.#pod, container, id, streams, ended),
      hook: (container, id, handler) => this.#host.hook(this.#pod, container, id, handler),
      probe: (container, id, probe) => this.#host.probe(this.#pod, container, id, probe),
      changed: () => clock.post(() => this.advance(), `kubelet: ${keyOf(pod)}`),
    };
  }

  /** Keeps up with containers that are added (ephemeral ones) or changed (resized). */
  #collect(): void {
    const { initContainers = [], containers = [], ephemeralContainers = [] } = this.#pod.spec ?? {};
    const wanted: [Role, Container][] = [
      ...initContainers.map((one): [Role, Container] => [one.restartPolicy === "Always" ? "sidecar" : "init", one]),
      ...containers.map((one): [Role, Container] => ["main", one]),
      ...ephemeralContainers.map((one): [Role, Container] => ["ephemeral", one as Container]),
    ];
    for (const [index, [role, spec]] of wanted.entries()) {
      const known = this.#containers[index];
      if (known) {
        known.spec = spec;
        if (known.state === "waiting" && !known.last) known.resources = spec.resources;
      } else this.#containers.push(new SimulatedContainer(role, spec, this.#host.clock, this.#host.logs));
    }
  }

  #isProgram(container: Container): boolean {
    return this.#host.image(container.image)?.run !== undefined || this.#host.runsInside(container, this.#pod);
  }

  #restore(status: PodStatus | undefined): void {
    const all = [
      ...(status?.initContainerStatuses ?? []),
      ...(status?.containerStatuses ?? []),
      ...(status?.ephemeralContainerStatuses ?? []),
    ];
    for (const container of this.#containers) {
      const known = all.find(({ name }) => name === container.spec.name);
      if (known && (known.state?.running || known.state?.terminated))
        container.restore(restored(known), this.#isProgram(container.spec));
      if (known?.resources) container.resources = known.resources;
    }
  }
}

function restored(status: ContainerStatus): Parameters<SimulatedContainer["restore"]>[0] {
  const { state, lastState, restartCount, ready, containerID = "" } = status;
  return {
    restartCount,
    ready,
    id: containerID,
    ...(state?.running && { running: Date.parse(state.running.startedAt ?? "") }),
    ...(state?.terminated && { ended: endedOf(state.terminated) }),
    ...(lastState?.terminated && { last: endedOf(lastState.terminated) }),
  };
}

function endedOf(state: NonNullable<NonNullable<ContainerStatus["state"]>["terminated"]>): Ended {
  const { exitCode, reason = "", message, startedAt = "", finishedAt = "", containerID = "" } = state;
  const times = { startedAt: Date.parse(startedAt), finishedAt: Date.parse(finishedAt) };
  return { exitCode, reason, ...(message !== undefined && { message }), ...times, id: containerID };
}

const stamp = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;
