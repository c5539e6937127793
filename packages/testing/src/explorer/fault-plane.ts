import type { ApiRequest, ApiResponse, Transport } from "@konverge/core";
import { readLines, readText, sleep } from "@konverge/core";
import { disturbApplication } from "./disturb-application.ts";
import { disturbWorld } from "./disturb-world.ts";
import { Disturbances } from "./disturbances.ts";
import { type Fault, type FaultPoint, faultText, isSamePoint, pointKey } from "./fault.ts";
import { RandomNames } from "./random-names.ts";
import { type DescribedRequest, describeRequest, resourceOf } from "./request-words.ts";
import { metadataOf, resultText } from "./response-words.ts";
import { cutConnection, expiredEvent, failureResponse, refusal, webhookFailure } from "./responses.ts";
import { readAt } from "./stale-read.ts";
import type { TimelineEntry } from "./timeline.ts";
import type { ExploredProcess, World } from "./world.ts";

/** An open watch of the operator. */
interface OpenWatch {
  readonly resource: string;
  /** Settles when it is to end; `cut`: as a connection that broke. */
  readonly ended: PromiseWithResolvers<"cut" | "closed">;
}

/** A watch event as it is sent. */
interface SentEvent {
  readonly type: string;
  readonly object: {
    readonly metadata?: { name?: string; namespace?: string; resourceVersion?: string; generateName?: string };
  };
}

/**
 * Stands between an operator and the API server: passes its requests on, records them, and lets each fault happen at its
 * point. Knows nothing of how the operator runs, so the same faults happen to a process behind a proxy.
 *
 * Guarantees: each fault happens at most once; with the same faults and the same cluster, the same timeline results.
 */
export class FaultPlane {
  readonly timeline: TimelineEntry[] = [];
  /** The faults that have happened. */
  readonly injected: Fault[] = [];
  readonly #world: World;
  readonly #names: Pick<RandomNames, "shown">;
  readonly #pending: Fault[];
  readonly #limit: number;
  readonly #started: number;
  readonly #counts = new Map<string, number>();
  /** The newest resource version at each point that was passed. */
  readonly #revisions = new Map<string, number>();
  /** Names that the server generated, and what they were generated from. */
  readonly #generated = new Map<string, string>();
  readonly #watches = new Set<OpenWatch>();
  readonly #disturbances: Disturbances;
  /** Settles with the next write of the user that has taken effect. */
  #userWrote = Promise.withResolvers<void>();
  #skew = 0;
  #impatient = false;
  /** Until then no process of the operator runs. */
  #downUntil = 0;
  #halted = false;
  #requests = 0;
  #writes = 0;

  /** After `limit` requests the operator's process is stopped: on virtual time, a hot loop would never let time pass. */
  constructor(
    world: World,
    faults: readonly Fault[] = [],
    limit = Number.POSITIVE_INFINITY,
    names: Pick<RandomNames, "shown"> = RandomNames.none,
  ) {
    this.#world = world;
    this.#names = names;
    this.#limit = limit;
    this.#pending = [...faults];
    this.#started = world.clock.monotonic();
    this.#disturbances = new Disturbances(world.clock, () => world.revision());
  }

  /** How far the wall clock of the operator's process is off, in milliseconds. */
  get skew(): number {
    return this.#skew;
  }

  /** The operator's requests so far, without those that recur at any time. */
  get requests(): number {
    return this.#requests;
  }

  get writes(): number {
    return this.#writes;
  }

  /** How long the operator is still down, in milliseconds. */
  get downFor(): number {
    return Math.max(0, this.#downUntil - this.#world.clock.monotonic());
  }

  /** Whether the operator was stopped because it made too many requests. */
  get halted(): boolean {
    return this.#halted;
  }

  /** Whether the user stops waiting now: true once for each such fault. */
  stopsWaiting(): boolean {
    const impatient = this.#impatient;
    this.#impatient = false;
    return impatient;
  }

  /** Adds a line to the timeline. */
  note(entry: Pick<TimelineEntry, "who" | "type" | "what"> & Partial<TimelineEntry>): void {
    const at = this.#world.clock.monotonic() - this.#started;
    this.timeline.push({ at, revision: this.#world.revision(), ...entry });
  }

  /** Called before each write of the user. */
  async userWrites(what: string): Promise<void> {
    const point = this.#point("user", what);
    this.note({ who: "user", type: "write", what, point, state: this.#world.state() });
    await this.#disturb(this.#due(point));
  }

  /** Called after each write of the user. */
  userHasWritten(): void {
    this.#userWrote.resolve();
    this.#userWrote = Promise.withResolvers();
  }

  /** Called before the user waits for something. True if the user does not wait. */
  async userWaits(what: string): Promise<boolean> {
    const point = this.#point("user", `wait until ${what}`);
    this.note({ who: "user", type: "wait", what: point.what, point, state: this.#world.state() });
    await this.#disturb(this.#due(point));
    return this.stopsWaiting();
  }

  /** Called when the scenario has ended and the cluster is idle. True if a fault happens now. */
  async atEnd(): Promise<boolean> {
    const point = this.#point("end", "");
    this.note({ who: "user", type: "wait", what: "the scenario has ended", point, state: this.#world.state() });
    const due = this.#due(point);
    await this.#disturb(due);
    return due.length > 0;
  }

  /** The operator's way to the API server. */
  interpose(next: Transport, process: ExploredProcess): Transport {
    this.#process = process;
    this.note({ who: "operator", type: "process", what: "started", process: process.number });
    return (request) => this.#request(request, next, process);
  }

  #process: ExploredProcess | undefined;

  async #request(request: ApiRequest, passOn: Transport, process: ExploredProcess): Promise<ApiResponse> {
    const described = describeRequest(request, (name) => this.#shown(name));
    if (described.routine) return passOn(request);
    if (this.#requests >= this.#limit) return this.#halt(process);
    const { target, name } = described;
    const isDelete = request.method === "DELETE";
    const next: Transport =
      described.type === "write" && target
        ? (sent) =>
            this.#world.writing("operator", { resource: resourceOf(target), name, deletes: isDelete }, () =>
              passOn(sent),
            )
        : passOn;
    this.#requests++;
    if (described.type === "write") this.#writes++;
    const point = this.#point("request", described.what);
    const state = this.#world.state();
    const due = this.#due(point);
    const outcome = await this.#disturb(due, described);
    const isPaged = target?.query.has("limit") && !target.query.has("continue");
    const record = (result: string, more: Partial<TimelineEntry> = {}) =>
      this.note({
        who: "operator",
        type: described.type,
        what: described.what,
        result,
        point,
        state,
        process: process.number,
        ...(isPaged && { paged: true }),
        ...more,
      });
    switch (outcome?.type) {
      case "crash":
        if (outcome.when === "after") record(String((await next(request)).status));
        else record("not sent");
        return this.#die(process, "killed");
      case "pause": {
        record("in flight");
        // The connection of the paused process stays open: what it sent arrives when the network delivers it.
        const { signal: _, ...late } = request;
        this.#world.clock.after(outcome.ms, () => {
          next(late).then(
            ({ status }) => record(`arrived late: ${status}`),
            () => {},
          );
        });
        return this.#die(process, "paused and replaced");
      }
      case "error":
        record(`${outcome.code} by a fault`);
        return failureResponse(outcome.code);
      case "cut":
        record("connection cut before it arrived");
        throw cutConnection();
      case "lost response":
        record(`${(await next(request)).status}, response lost`);
        throw cutConnection();
      case "slow": {
        const answer = await this.#answer(described, request, next, record, point, process);
        await sleep(this.#world.clock, outcome.ms);
        return answer;
      }
      case "short page": {
        const path = request.path.replace(/([?&]limit=)\d+/, "$11");
        return this.#answer(described, { ...request, path }, next, record, point, process);
      }
      case "watch expired":
        record("410 Gone");
        return { status: 200, headers: { "content-type": "application/json" }, body: expiredEvent() };
      default:
        return this.#answer(described, request, next, record, point, process);
    }
  }

  async #answer(
    described: DescribedRequest,
    request: ApiRequest,
    next: Transport,
    record: (result: string, more?: Partial<TimelineEntry>) => void,
    point: FaultPoint,
    process: ExploredProcess,
  ): Promise<ApiResponse> {
    if (this.#disturbances.isDisconnected) {
      record("connection refused");
      throw cutConnection();
    }
    if (this.#disturbances.failsInWebhook(described)) {
      record("500, a webhook did not answer");
      return webhookFailure();
    }
    const refusedBy = this.#disturbances.refusedBy(described);
    if (refusedBy) {
      record(refusedBy === "quota" ? "403, the quota is exhausted" : "422, a webhook refused it");
      return refusal(refusedBy, described.what);
    }
    if (described.type === "watch") return this.#watch(described, request, next, record, process);
    const view = this.#disturbances.viewOf(described.target && resourceOf(described.target));
    const older = view && described.type === "read" ? readAt(request, described, view.revision) : undefined;
    let answer = await next(older?.request ?? request);
    if (older && answer.status === 410) answer = await next(request);
    else if (older) answer = await older.answer(answer);
    const body = await readText(answer.body);
    const about = this.#about(body, described);
    record(resultText(answer.status, body), { ...about, point });
    return { ...answer, body };
  }

  async #watch(
    { target, what }: DescribedRequest,
    request: ApiRequest,
    next: Transport,
    record: (result: string, more?: Partial<TimelineEntry>) => void,
    process: ExploredProcess,
  ): Promise<ApiResponse> {
    const from = target?.query.get("resourceVersion") ?? "";
    const lists = target?.query.get("sendInitialEvents") === "true";
    if (!lists && this.#disturbances.hasExpired(from)) {
      record("410 Gone", { version: from });
      return { status: 200, headers: { "content-type": "application/json" }, body: expiredEvent() };
    }
    const answer = await next(request);
    record(String(answer.status), from === "" ? {} : { version: from });
    if (answer.status !== 200 || typeof answer.body === "string" || answer.body instanceof Uint8Array) return answer;
    const resource = target ? resourceOf(target) : what;
    return { ...answer, body: this.#events(answer.body, resource, lists && from === "", process) };
  }

  /** The events of a watch, each at its own point. The initial events of a consistent list are never held back. */
  async *#events(
    body: AsyncIterable<string | Uint8Array>,
    resource: string,
    consistent: boolean,
    process: ExploredProcess,
  ): AsyncGenerator<string> {
    const watch: OpenWatch = { resource, ended: Promise.withResolvers() };
    this.#watches.add(watch);
    const lines = readLines(body);
    let isListing = consistent;
    try {
      for (;;) {
        const line = await Promise.race([lines.next(), watch.ended.promise]);
        if (line === "closed") return;
        if (line === "cut") throw cutConnection();
        if (line.done) return;
        const event = JSON.parse(line.value) as SentEvent;
        const { name, namespace, resourceVersion = "0", generateName } = event.object.metadata ?? {};
        if (event.type === "BOOKMARK" || event.type === "ERROR" || name === undefined) {
          if (!isListing && (await this.#held(resourceVersion, watch)) === "cut") throw cutConnection();
          isListing = false;
          yield `${line.value}\n`;
          continue;
        }
        // Other namespaces, and what every namespace has, are none of the scenario's business.
        if ((namespace !== undefined && namespace !== this.#world.namespace) || name === "kube-root-ca.crt") {
          yield `${line.value}\n`;
          continue;
        }
        if (generateName !== undefined) this.#generated.set(name, `${generateName}*`);
        const what = `${event.type} ${resource}/${this.#shown(name)}`;
        const point = this.#point("event", what);
        const state = this.#world.state();
        const outcome = await this.#disturb(this.#due(point));
        if (outcome?.type === "crash") return void (await this.#die(process, "killed"));
        if (outcome?.type === "watch expired") return void (yield expiredEvent());
        if (!isListing && (await this.#held(resourceVersion, watch)) === "cut") throw cutConnection();
        const live = this.#liveVersion(resource, event, resourceVersion);
        this.note({
          who: "operator",
          type: "event",
          what,
          version: resourceVersion,
          point,
          state,
          process: process.number,
          ...(live !== undefined && { live }),
        });
        yield `${line.value}\n`;
      }
    } finally {
      this.#watches.delete(watch);
      // It may wait for a line that never comes: nothing waits for its end.
      lines.return().catch(() => {});
    }
  }

  /** Waits until the operator may see this version, or the watch ends. */
  async #held(version: string, watch: OpenWatch): Promise<"cut" | "delivered"> {
    const current = () => this.#disturbances.viewOf(watch.resource);
    for (let view = current(); view && Number(version) > view.revision; view = current()) {
      const waited = sleep(this.#world.clock, view.until - this.#world.clock.monotonic());
      if ((await Promise.race([waited, watch.ended.promise])) !== undefined) return "cut";
    }
    return "delivered";
  }

  /** A name without what the server or a program drew. */
  #shown(name: string): string {
    return this.#names.shown(this.#generated.get(name) ?? name);
  }

  #point(on: FaultPoint["on"], what: string): FaultPoint {
    const key = `${on} ${what}`;
    const nth = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, nth);
    const point: FaultPoint = { on, what, nth };
    this.#revisions.set(pointKey(point), this.#world.revision());
    return point;
  }

  /** The faults that are to happen at this point, each once. */
  #due(point: FaultPoint): Fault[] {
    const due = this.#pending.filter(({ at }) => isSamePoint(at, point));
    for (const fault of due) this.#pending.splice(this.#pending.indexOf(fault), 1);
    return due;
  }

  /** Lets faults happen that are not the outcome of the request or event at hand; returns the one that is, if any. */
  async #disturb(faults: readonly Fault[], request?: DescribedRequest): Promise<Fault | undefined> {
    let outcome: Fault | undefined;
    for (const fault of faults) {
      this.injected.push(fault);
      this.note({ who: "explorer", type: "fault", what: faultText(fault), fault });
      switch (fault.type) {
        case "stale":
          this.#disturbances.showOld(this.#world.revision(), fault.ms, fault.resource);
          break;
        case "time travel": {
          const revision = this.#revisions.get(pointKey(fault.to)) ?? this.#world.revision();
          this.#disturbances.showOld(revision, fault.ms);
          outcome = { type: "crash", at: fault.at, when: "before" };
          break;
        }
        case "downtime":
          this.#downUntil = this.#world.clock.monotonic() + fault.ms;
          outcome = { type: "crash", at: fault.at, when: "before" };
          break;
        case "application":
          await disturbApplication(fault, this.#world);
          break;
        case "missed events":
          this.#disturbances.disconnect(fault);
          this.#end("cut");
          break;
        case "webhook down":
          this.#disturbances.stopWebhooks(fault.ms);
          break;
        case "clock jump":
          this.#skew += fault.ms;
          break;
        case "impatient user":
          this.#impatient = true;
          if (fault.holds !== undefined)
            await Promise.race([this.#userWrote.promise, sleep(this.#world.clock, fault.holds)]);
          break;
        case "refused":
          this.#disturbances.refuse(fault, request);
          break;
        case "delete":
        case "edit":
        case "crd update":
        case "node lost":
          await disturbWorld(fault, this.#world);
          if (fault.type === "crd update") this.#end("closed", fault.crd);
          break;
        default:
          outcome = fault;
      }
    }
    // Outside a request or an event a crash has nothing to wait for.
    const point = faults[0]?.at.on;
    if (outcome?.type === "crash" && (point === "user" || point === "end") && this.#process) {
      void this.#die(this.#process, "killed", this.downFor);
    }
    return outcome;
  }

  #end(how: "cut" | "closed", resource?: string): void {
    for (const watch of this.#watches) {
      if (resource === undefined || watch.resource === resource) watch.ended.resolve(how);
    }
  }

  #halt(process: ExploredProcess): Promise<never> {
    if (!this.#halted) {
      const what = `stopped after ${this.#limit} requests`;
      this.note({ who: "explorer", type: "process", what, process: process.number });
    }
    this.#halted = true;
    return new Promise(() => {});
  }

  /** Ends the process, and the next one starts after this time. What it was waiting for never arrives. */
  #die(process: ExploredProcess, how: string, downMs = 0): Promise<never> {
    this.note({ who: "operator", type: "process", what: how, process: process.number });
    process.crash(downMs);
    return new Promise(() => {});
  }

  /** The version that a response shows, and the one that the object has by now if that is another. */
  #about(body: string, { target, name }: DescribedRequest): Pick<TimelineEntry, "version" | "live"> {
    const metadata = metadataOf(body);
    if (metadata?.generateName !== undefined && metadata.name !== undefined) {
      this.#generated.set(metadata.name, `${metadata.generateName}*`);
    }
    const version = metadata?.resourceVersion;
    if (version === undefined || !target) return {};
    const shown = metadata?.name ?? name;
    if (shown === undefined) return { version };
    const resource = resourceOf(target);
    const live = this.#world.liveVersion({ resource, namespace: target.namespace, name: shown }) ?? "deleted";
    return live === version ? { version } : { version, live };
  }

  #liveVersion(resource: string, { type, object }: SentEvent, version: string): string | undefined {
    const { name = "", namespace } = object.metadata ?? {};
    const live = this.#world.liveVersion({ resource, namespace, name });
    if (type === "DELETED") return live === undefined ? undefined : live;
    return live === version ? undefined : (live ?? "deleted");
  }
}
