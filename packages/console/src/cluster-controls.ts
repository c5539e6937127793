import type { Client } from "@konverge/client";
import type { AdjustableClock, Clock } from "@konverge/core";
import type { ControlRequest, ControlsState, KeptState } from "./protocol.ts";

/** What the controls need of a cluster in this process. */
export interface EmbeddedCluster {
  readonly client: Client;
  readonly faults: { requestDelay: number; crashPod(pod: string): boolean };
  snapshot(): object;
  restore(state: object): void;
  fork(): Promise<EmbeddedCluster & AsyncDisposable>;
  /** Programs in the pods of a fork reach it there. */
  listen(): Promise<AsyncDisposable>;
}

export interface EmbeddedOptions {
  readonly cluster: EmbeddedCluster;
  /** The clock of the cluster and of its operators, or why its time cannot be changed. */
  readonly time: AdjustableClock | { readonly unavailable: string };
}

/** Where controls are shown. */
export interface ControlsPlace {
  readonly title: string;
  /** The cluster's. */
  readonly clock: Clock;
  /** The number of objects now. */
  objects(): number;
  /** Adds a line to the timeline. */
  note(message: string): void;
  /** The state is different. */
  changed(): void;
  /** Serves the console of a fork. */
  open(title: string, embedded: EmbeddedOptions): Promise<{ readonly url: string } & AsyncDisposable>;
}

/** A request that cannot be carried out, and why. */
export class ControlError extends Error {}

const MOST_SNAPSHOTS = 20;
/** Each runs a control plane and its operators. */
const MOST_FORKS = 3;
const LONGEST_DELAY = 60_000;
const FASTEST = 60;

interface Kept extends KeptState {
  readonly state: object;
}
interface Fork extends KeptState {
  readonly url: string;
  readonly running: AsyncDisposableStack;
}

/** The time of an embedded cluster, faults by hand, snapshots and forks. */
export class ClusterControls {
  readonly #embedded: EmbeddedOptions;
  readonly #place: ControlsPlace;
  readonly #snapshots: Kept[] = [];
  readonly #forks: Fork[] = [];
  #nextId = 1;
  #isForking = false;

  constructor(embedded: EmbeddedOptions, place: ControlsPlace) {
    this.#embedded = embedded;
    this.#place = place;
    if ("speed" in embedded.time) embedded.time.changed = () => place.changed();
  }

  state(): ControlsState {
    const { time, cluster } = this.#embedded;
    const kept = ({ id, at, objects }: KeptState) => ({ id, at, objects });
    return {
      time:
        "speed" in time
          ? {
              now: time.now(),
              speed: time.speed,
              ...(time.jumpsTo !== undefined && { jumpsTo: time.jumpsTo }),
            }
          : time,
      requestDelay: cluster.faults.requestDelay,
      snapshots: this.#snapshots.map(kept),
      forks: this.#forks.map((fork) => ({ ...kept(fork), url: fork.url })),
    };
  }

  /** Throws a {@link ControlError} or a RangeError if that is not possible. */
  async perform(request: ControlRequest): Promise<void> {
    switch (request.action) {
      case "speed":
        this.#setSpeed(request.speed);
        break;
      case "jump":
        this.#time().jump(request.ms);
        this.#place.note(`lets ${Math.round(request.ms / 1000)} s pass quickly`);
        break;
      case "delay requests":
        this.#delayRequests(request.ms);
        break;
      case "crash pod":
        if (!this.#embedded.cluster.faults.crashPod(request.pod))
          throw new ControlError(`no pod ${request.pod} runs on a simulated node`);
        this.#place.note(`kills the containers of ${request.pod}`);
        break;
      case "snapshot":
        this.#snapshots.push({ ...this.#now(), state: this.#embedded.cluster.snapshot() });
        this.#snapshots.splice(0, this.#snapshots.length - MOST_SNAPSHOTS);
        break;
      case "restore": {
        const { state, id } = this.#kept(request.id);
        this.#embedded.cluster.restore(state);
        this.#place.note(`restores snapshot ${id}`);
        break;
      }
      case "forget":
        this.#snapshots.splice(this.#snapshots.indexOf(this.#kept(request.id)), 1);
        break;
      case "fork":
        await this.#fork(request.id === undefined ? undefined : this.#kept(request.id).state);
        break;
      case "stop fork":
        await this.#stopFork(request.id);
        break;
      default:
        throw new ControlError(`there is no action ${String((request as { action?: unknown }).action)}`);
    }
    this.#place.changed();
  }

  async close(): Promise<void> {
    if ("speed" in this.#embedded.time) this.#embedded.time.changed = undefined;
    for (const { running } of this.#forks.splice(0)) await running.disposeAsync();
  }

  #time(): AdjustableClock {
    const { time } = this.#embedded;
    if ("speed" in time) return time;
    throw new ControlError(time.unavailable);
  }

  #setSpeed(speed: number): void {
    const time = this.#time();
    if (speed > FASTEST) throw new ControlError(`the time passes at most ${FASTEST} times as fast, not ${speed} times`);
    time.speed = speed;
    this.#place.note(speed === 0 ? "stops the time" : `lets the time pass ${speed} times as fast as the machine's`);
  }

  #delayRequests(ms: number): void {
    if (!(ms >= 0 && ms <= LONGEST_DELAY))
      throw new ControlError(`a delay is a number of milliseconds from 0 to ${LONGEST_DELAY}, not ${ms}`);
    this.#embedded.cluster.faults.requestDelay = ms;
    this.#place.note(ms === 0 ? "no longer delays requests" : `delays each request by ${ms} ms`);
  }

  #now(): KeptState {
    return { id: this.#nextId++, at: this.#place.clock.now(), objects: this.#place.objects() };
  }

  #kept(id: number): Kept {
    const found = this.#snapshots.find((one) => one.id === id);
    if (!found) throw new ControlError(`there is no snapshot ${id} any more`);
    return found;
  }

  async #fork(state: object | undefined): Promise<void> {
    if (this.#isForking || this.#forks.length >= MOST_FORKS)
      throw new ControlError(`at most ${MOST_FORKS} forks run at a time: stop one first`);
    this.#isForking = true;
    const running = new AsyncDisposableStack();
    try {
      const from = this.#now();
      const cluster = await this.#embedded.cluster.fork();
      let port: AsyncDisposable | undefined;
      // Programs in its pods say goodbye through the port.
      running.defer(async () => {
        await cluster[Symbol.asyncDispose]();
        await port?.[Symbol.asyncDispose]();
      });
      if (state) cluster.restore(state);
      port = await cluster.listen();
      const time = { unavailable: "a fork's time passes as that of the cluster it was forked from" };
      const title = `${this.#place.title}, fork ${from.id}`;
      const served = running.use(await this.#place.open(title, { cluster, time }));
      this.#forks.push({ ...from, url: served.url, running });
    } catch (error) {
      await running.disposeAsync();
      throw error;
    } finally {
      this.#isForking = false;
    }
  }

  async #stopFork(id: number): Promise<void> {
    const at = this.#forks.findIndex((one) => one.id === id);
    if (at < 0) throw new ControlError(`there is no fork ${id} any more`);
    const [fork] = this.#forks.splice(at, 1);
    await fork!.running.disposeAsync();
  }
}

/** Whether the user has all permissions: controls change everything, whatever RBAC says about the objects. */
export function isAdministrator(client: Client): Promise<boolean> {
  const question = { verb: "*", kind: { group: "*", plural: "*" } };
  return client.canI(question).then(
    ({ allowed }) => allowed,
    () => false,
  );
}
