import type { ApiRequest, Clock, ObjectKey, Transport } from "@konverge/core";
import { realClock } from "@konverge/core";
import type { Counter, Gauge, Histogram, Registry } from "prom-client";
import { DeadlineError } from "../controller/attempt.ts";
import type { ManagerState, Observer, ReconcileEnd, ReconcileObserver, ReconcileStart } from "../observe/observer.ts";
import type { QueuePriority } from "../queue/work-queue.ts";
import { prometheus } from "./on-demand.ts";

export interface MetricsOptions {
  /** Where the series are kept. Default: a separate registry. */
  registry?: Registry;
  /** Also those of the process: memory, CPU seconds, event loop. Default: true. */
  process?: boolean;
  /** Default: the machine's. */
  clock?: Clock;
}

const RECONCILE_BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];
const QUEUE_BUCKETS = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1000];
const REQUEST_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

/** As controller-runtime numbers them: what a listing brings up is -100, a change 0. */
const PRIORITIES: Record<QueuePriority, string> = { low: "-100", normal: "0", high: "100" };

type Result = "success" | "error" | "requeue" | "requeue_after";
const RESULTS: readonly Result[] = ["success", "error", "requeue", "requeue_after"];

/**
 * Metrics for Prometheus, with the names of controller-runtime, so that existing dashboards and alerts work. All series
 * of a controller exist, with value 0, as soon as its manager is created.
 *
 * ```ts
 * const metrics = new Metrics();
 * const client = await connect({ around: metrics.transport() });
 * await using manager = await run(models, { client, observers: [metrics] });
 * ```
 */
export class Metrics implements Observer {
  readonly registry: Registry;
  readonly #clock: Clock;
  readonly #managers = new Set<ManagerState>();
  /** Keys that wait in a queue, by controller: an add of a key that waits already is none. */
  readonly #queued = new Map<string, Set<ObjectKey>>();
  /** When each reconcile in progress started, by controller. */
  readonly #running = new Map<string, Set<{ since: number }>>();
  readonly #results: Counter<"controller" | "result">;
  readonly #errors: Counter<"controller">;
  readonly #terminal: Counter<"controller">;
  readonly #panics: Counter<"controller">;
  readonly #timeouts: Counter<"controller">;
  readonly #time: Histogram<"controller">;
  readonly #adds: Counter<"name" | "controller">;
  readonly #retries: Counter<"name" | "controller">;
  readonly #waited: Histogram<"name" | "controller">;
  readonly #worked: Histogram<"name" | "controller">;
  readonly #requests: Counter<"code" | "method" | "host">;
  readonly #requestTime: Histogram<"verb" | "host">;
  readonly #reviews: Counter<"webhook" | "code">;
  readonly #reviewTime: Histogram<"webhook">;
  readonly #reviewsInFlight: Gauge<"webhook">;
  readonly #hotLoops: Counter<"controller">;
  readonly #watchFailures: Counter<"cluster" | "kind">;
  readonly #leads: Gauge<"name">;

  constructor(options: MetricsOptions = {}) {
    const { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } = prometheus();
    this.registry = options.registry ?? new Registry();
    this.#clock = options.clock ?? realClock();
    const registers = [this.registry];
    const counter = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
      new Counter<L>({ name, help, labelNames, registers });
    const histogram = <L extends string>(name: string, help: string, buckets: number[], ...labelNames: L[]) =>
      new Histogram<L>({ name, help, buckets, labelNames, registers });
    const cr = "controller_runtime";
    this.#results = counter(`${cr}_reconcile_total`, "Number of reconciles, by result.", "controller", "result");
    this.#errors = counter(`${cr}_reconcile_errors_total`, "Number of failed reconciles.", "controller");
    this.#terminal = counter(
      `${cr}_terminal_reconcile_errors_total`,
      "Number of failures that are not retried.",
      "controller",
    );
    this.#panics = counter(
      `${cr}_reconcile_panics_total`,
      "Number of failures caused by a bug in the operator.",
      "controller",
    );
    this.#timeouts = counter(
      `${cr}_reconcile_timeouts_total`,
      "Number of reconciles that exceeded their deadline.",
      "controller",
    );
    this.#time = histogram(
      `${cr}_reconcile_time_seconds`,
      "Duration of reconciles in seconds.",
      RECONCILE_BUCKETS,
      "controller",
    );
    this.#adds = counter("workqueue_adds_total", "Number of keys added to the queue.", "name", "controller");
    this.#retries = counter("workqueue_retries_total", "Number of retries.", "name", "controller");
    this.#waited = histogram(
      "workqueue_queue_duration_seconds",
      "Time that keys wait in the queue, in seconds.",
      QUEUE_BUCKETS,
      "name",
      "controller",
    );
    this.#worked = histogram(
      "workqueue_work_duration_seconds",
      "Time that workers spend on keys, in seconds.",
      QUEUE_BUCKETS,
      "name",
      "controller",
    );
    this.#hotLoops = counter(
      "konverge_hot_loops_total",
      "Number of objects that were reconciled again and again for no reason from outside.",
      "controller",
    );
    this.#requests = counter(
      "rest_client_requests_total",
      "Number of requests to the API server.",
      "code",
      "method",
      "host",
    );
    this.#requestTime = histogram(
      "rest_client_request_duration_seconds",
      "Time to the first byte of the API server's response, in seconds.",
      REQUEST_BUCKETS,
      "verb",
      "host",
    );
    const webhook = `${cr}_webhook`;
    this.#reviews = counter(
      `${webhook}_requests_total`,
      "Number of admission and conversion reviews, by HTTP status.",
      "webhook",
      "code",
    );
    this.#reviewTime = histogram(
      `${webhook}_latency_seconds`,
      "Duration of reviews in seconds.",
      RECONCILE_BUCKETS,
      "webhook",
    );
    this.#reviewsInFlight = new Gauge({
      name: `${webhook}_requests_in_flight`,
      help: "Number of reviews in progress.",
      labelNames: ["webhook"],
      registers,
    });
    this.#watchFailures = counter("konverge_watch_failures_total", "Number of failed watches.", "cluster", "kind");
    this.#leads = new Gauge({
      name: "leader_election_master_status",
      help: "1 if this replica holds the lease.",
      labelNames: ["name"],
      registers,
    });
    this.#addStates();
    if (options.process ?? true) collectDefaultMetrics({ register: this.registry });
  }

  /** All series in Prometheus' text format. */
  text(): Promise<string> {
    return this.registry.metrics();
  }

  /** For `connect({ around })`: counts the requests of a client. */
  transport(host = "kubernetes"): (transport: Transport) => Transport {
    return (transport) => async (request) => {
      const since = this.#clock.monotonic();
      const verb = verbOf(request);
      try {
        const answer = await transport(request);
        this.#requests.inc({ code: answer.status, method: request.method, host });
        return answer;
      } catch (error) {
        this.#requests.inc({ code: "<error>", method: request.method, host });
        throw error;
      } finally {
        this.#requestTime.observe({ verb, host }, (this.#clock.monotonic() - since) / 1000);
      }
    };
  }

  managing(manager: ManagerState): void {
    this.#managers.add(manager);
    for (const name of manager.leases) this.#leads.set({ name: nameOf(name) }, 0);
    for (const { name: controller } of manager.controllers()) {
      for (const result of RESULTS) this.#results.inc({ controller, result }, 0);
      for (const one of [this.#errors, this.#terminal, this.#panics, this.#timeouts]) one.inc({ controller }, 0);
      this.#time.zero({ controller });
      const queue = { name: controller, controller };
      for (const one of [this.#adds, this.#retries]) one.inc(queue, 0);
      for (const one of [this.#waited, this.#worked]) one.zero(queue);
    }
  }

  triggered({ cluster, controller, key }: { cluster: string; controller: string; key: ObjectKey }): void {
    const queued = setOf(this.#queued, controller);
    const id = `${cluster} ${key}`;
    if (queued.has(id)) return;
    queued.add(id);
    this.#adds.inc({ name: controller, controller });
  }

  reconciling({ cluster, controller, key, waited }: ReconcileStart): ReconcileObserver {
    const queue = { name: controller, controller };
    // A key without an add event is in the queue because of a retry, or because it was due.
    if (!setOf(this.#queued, controller).delete(`${cluster} ${key}`)) this.#adds.inc(queue);
    this.#waited.observe(queue, waited / 1000);
    const running = setOf(this.#running, controller);
    const one = { since: this.#clock.monotonic() };
    running.add(one);
    return {
      ended: (end) => {
        running.delete(one);
        this.#worked.observe(queue, end.duration / 1000);
        this.#count(controller, end);
      },
    };
  }

  reviewing({ webhook }: { webhook: string }) {
    this.#reviewsInFlight.inc({ webhook });
    return ({ code, duration }: { code: number; duration: number }) => {
      this.#reviewsInFlight.dec({ webhook });
      this.#reviews.inc({ webhook, code });
      this.#reviewTime.observe({ webhook }, duration / 1000);
    };
  }

  hotLoop({ controller }: { controller: string }): void {
    this.#hotLoops.inc({ controller });
  }

  watchFailed({ cluster, kind }: { cluster: string; kind: { kind: string } }): void {
    this.#watchFailures.inc({ cluster, kind: kind.kind });
  }

  leased({ lease, held }: { lease: string; held: boolean }): void {
    this.#leads.set({ name: nameOf(lease) }, held ? 1 : 0);
  }

  #count(controller: string, end: ReconcileEnd): void {
    if (end.outcome === "stopped") return;
    this.#time.observe({ controller }, end.duration / 1000);
    const result = resultOf(end);
    this.#results.inc({ controller, result });
    if (end.outcome === "transient" || end.outcome === "conflict") {
      this.#retries.inc({ name: controller, controller });
    }
    if (result !== "error") return;
    this.#errors.inc({ controller });
    if (end.outcome === "permanent") this.#terminal.inc({ controller });
    if (isMistake(end.error)) this.#panics.inc({ controller });
    if (isTimeout(end.error)) this.#timeouts.inc({ controller });
  }

  /** What is not counted but read at each scrape. */
  #addStates(): void {
    const { Gauge } = prometheus();
    const gauge = (name: string, help: string, labelNames: string[], collect: (set: Gauge["set"]) => void) =>
      new Gauge({
        name,
        help,
        labelNames,
        registers: [this.registry],
        collect() {
          this.reset();
          collect(this.set.bind(this) as Gauge["set"]);
        },
      });
    const controllers = () => [...this.#managers].flatMap((manager) => [...manager.controllers()]);
    const watches = () => [...this.#managers].flatMap((manager) => [...manager.watches()]);
    const cr = "controller_runtime";
    gauge(
      `${cr}_max_concurrent_reconciles`,
      "Maximum number of concurrent reconciles of a controller.",
      ["controller"],
      (set) => {
        for (const { name, concurrency } of controllers()) set({ controller: name }, concurrency);
      },
    );
    gauge(`${cr}_active_workers`, "Number of reconciles in progress.", ["controller"], (set) => {
      for (const [name, total] of sums(controllers(), "working")) set({ controller: name }, total);
    });
    gauge("konverge_daemons_running", "Number of objects that a daemon runs for.", ["controller", "daemon"], (set) => {
      const running = controllers().flatMap(({ name, daemons }) =>
        Object.entries(daemons).map(([daemon, objects]) => ({ name: JSON.stringify([name, daemon]), objects })),
      );
      for (const [name, total] of sums(running, "objects")) {
        const [controller, daemon] = JSON.parse(name) as [string, string];
        set({ controller, daemon }, total);
      }
    });
    const ofQueue = ["name", "controller"];
    gauge("workqueue_depth", "Number of keys in the queue.", [...ofQueue, "priority"], (set) => {
      for (const priority of ["low", "normal", "high"] as const) {
        const states = controllers().map(({ name, depths }) => ({ name, depth: depths[priority] }));
        for (const [name, total] of sums(states, "depth")) {
          set({ name, controller: name, priority: PRIORITIES[priority] }, total);
        }
      }
    });
    const ages = (name: string) =>
      [...setOf(this.#running, name)].map(({ since }) => (this.#clock.monotonic() - since) / 1000);
    gauge(
      "workqueue_unfinished_work_seconds",
      "Total duration of reconciles in progress, in seconds.",
      ofQueue,
      (set) => {
        for (const { name } of controllers()) {
          set(
            { name, controller: name },
            ages(name).reduce((sum, age) => sum + age, 0),
          );
        }
      },
    );
    gauge(
      "workqueue_longest_running_processor_seconds",
      "Duration of the longest reconcile in progress, in seconds.",
      ofQueue,
      (set) => {
        for (const { name } of controllers()) set({ name, controller: name }, Math.max(0, ...ages(name)));
      },
    );
    const ofWatch = ["cluster", "kind", "namespace"];
    const watch = (name: string, help: string, value: (state: ReturnType<typeof watches>[number]) => number) =>
      gauge(name, help, ofWatch, (set) => {
        for (const state of watches()) {
          set({ cluster: state.cluster, kind: state.kind.kind, namespace: state.scope.namespace ?? "" }, value(state));
        }
      });
    watch("konverge_cache_objects", "Number of objects in the cache.", ({ objects }) => objects);
    watch("konverge_cache_bytes", "Size of the cached objects in bytes.", ({ bytes }) => bytes);
    watch("konverge_watch_synced", "1 once all objects have been listed.", ({ synced }) => (synced ? 1 : 0));
    watch("konverge_watch_age_seconds", "Seconds since the watch last received something.", ({ age }) => age / 1000);
  }
}

function sums<K extends string>(states: readonly ({ name: string } & Record<K, number>)[], field: K) {
  const totals = new Map<string, number>();
  for (const state of states) totals.set(state.name, (totals.get(state.name) ?? 0) + state[field]);
  return totals;
}

function setOf<T>(sets: Map<string, Set<T>>, name: string): Set<T> {
  let set = sets.get(name);
  if (!set) {
    set = new Set();
    sets.set(name, set);
  }
  return set;
}

/** Leases are known by their name alone in the metric. */
const nameOf = (lease: string) => lease.slice(lease.indexOf("/") + 1);

function resultOf({ outcome, next }: ReconcileEnd): Result {
  if (outcome === "transient" || outcome === "permanent") return "error";
  if (outcome === "conflict") return "requeue";
  return next === undefined ? "success" : "requeue_after";
}

/** What would have been a panic in Go: no error of the world, but one of the program. */
function isMistake(error: unknown): boolean {
  return error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError;
}

function isTimeout(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause) if (one instanceof DeadlineError) return true;
  return false;
}

function verbOf({ method, path }: ApiRequest): string {
  return method === "GET" && path.includes("watch=true") ? "WATCH" : method;
}
