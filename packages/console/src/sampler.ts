import type { Clock } from "@konverge/core";
import type { OperatorMetrics } from "./operator-metrics.ts";
import type { ControllerSample, Entry, ObjectSummary, ReconcileEntry, Sample } from "./protocol.ts";

/** Milliseconds between samples. */
const PERIOD = 2000;
/** An hour of samples. */
const KEPT = 1800;

/** What a controller did, counted off the timeline. */
interface Counted {
  operator: string;
  reconciles: number;
  errors: number;
  retries: number;
  writes: number;
  durations: number[];
}

/** Takes a sample of the cluster and of all controllers at regular intervals. */
export class Sampler {
  readonly #clock: Clock;
  readonly #timers: Clock;
  readonly #metrics: OperatorMetrics;
  readonly #objects: () => Iterable<ObjectSummary>;
  readonly #report: (sample: Sample) => void;
  readonly #counted = new Map<string, Counted>();
  readonly #totals = new Map<string, { total: number; totalErrors: number }>();
  readonly samples: Sample[] = [];
  #changes = 0;
  #last: number;
  #timer: { cancel(): void } | undefined;

  /** `clock` is the cluster's, which may be faster than `timers`, by which samples are taken. */
  constructor(
    clock: Clock,
    timers: Clock,
    metrics: OperatorMetrics,
    objects: () => Iterable<ObjectSummary>,
    report: (sample: Sample) => void,
  ) {
    this.#clock = clock;
    this.#timers = timers;
    this.#metrics = metrics;
    this.#objects = objects;
    this.#report = report;
    this.#last = clock.monotonic();
  }

  start(): void {
    this.#timer = this.#timers.after(
      PERIOD,
      () =>
        void this.#take()
          .catch(() => {})
          .finally(() => this.#timer && this.start()),
      {
        background: true,
        label: "console sample",
      },
    );
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  count(entry: Entry): void {
    // From a log that was written before the console was started.
    if (entry.at < this.#clock.now() - 5 * PERIOD) return;
    if (entry.type === "change") this.#changes++;
    if (entry.type === "reconcile") countReconcile(this.#counted, entry);
  }

  async #take(): Promise<void> {
    const objects = [...this.#objects()];
    const operators = objects.filter((one) => one.operator && one.pod?.phase === "Running");
    const read = await Promise.all(operators.map((pod) => this.#metrics.read(pod)));
    const now = this.#clock.monotonic();
    const seconds = Math.max(0.001, (now - this.#last) / 1000);
    this.#last = now;
    const measured = read.flatMap((one) => one?.controllers ?? []);
    const gpus = gpusByOwner(objects);
    const sizes = read.flatMap((one) => one?.sizes ?? []).map((size) => ({ ...size, gpus: gpus.get(size.name) ?? 0 }));
    const counted = new Map(this.#counted);
    this.#counted.clear();
    const controllers = measured.map((one) => ({
      ...one,
      // Those that do not lead write nothing.
      writes: one.leads === false ? 0 : (counted.get(one.controller)?.writes ?? 0) / seconds,
    }));
    const known = new Set(controllers.map(({ controller }) => controller));
    for (const [controller, one] of counted) {
      if (!known.has(controller)) controllers.push(this.#sampleOf(controller, one, seconds));
    }
    const cluster = clusterSample(objects);
    const sample = { ...cluster, sizes, at: this.#clock.now(), controllers, changes: this.#changes / seconds };
    this.#changes = 0;
    this.samples.push(sample);
    if (this.samples.length > KEPT) this.samples.shift();
    this.#report(sample);
  }

  #sampleOf(controller: string, one: Counted, seconds: number): ControllerSample & { writes: number } {
    const before = this.#totals.get(controller) ?? { total: 0, totalErrors: 0 };
    const totals = { total: before.total + one.reconciles, totalErrors: before.totalErrors + one.errors };
    this.#totals.set(controller, totals);
    return { ...controllerSample(controller, one, seconds), ...totals };
  }
}

function countReconcile(counted: Map<string, Counted>, entry: ReconcileEntry): void {
  let one = counted.get(entry.controller);
  if (!one) {
    one = { operator: entry.operator ?? "", reconciles: 0, errors: 0, retries: 0, writes: 0, durations: [] };
    counted.set(entry.controller, one);
  }
  one.reconciles++;
  one.writes += entry.writes.length;
  if (entry.outcome === "transient" || entry.outcome === "permanent") one.errors++;
  if (entry.outcome === "transient" || entry.outcome === "conflict") one.retries++;
  if (entry.duration !== undefined) one.durations.push(entry.duration / 1000);
}

function controllerSample(controller: string, one: Counted, seconds: number) {
  const sorted = one.durations.toSorted((a, b) => a - b);
  const at = (q: number) => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
  const [p50, p95] = [at(0.5), at(0.95)];
  return {
    operator: one.operator,
    controller,
    rate: one.reconciles / seconds,
    errors: one.errors / seconds,
    retries: one.retries / seconds,
    writes: one.writes / seconds,
    ...(p50 !== undefined && { p50 }),
    ...(p95 !== undefined && { p95 }),
  };
}

/** The GPUs of the pods below each object that owns some, by `namespace/name`. */
function gpusByOwner(objects: readonly ObjectSummary[]): Map<string, number> {
  const known = new Map(objects.map((one) => [one.id, one]));
  const found = new Map<string, number>();
  for (const { pod, owners } of objects) {
    if (!pod?.gpus) continue;
    // Owners of the same name, as a Deployment of the name of its owner, count once.
    const names = new Set<string>();
    for (let owner = known.get(owners[0] ?? ""), depth = 0; owner && depth < 10; depth++) {
      names.add(owner.namespace ? `${owner.namespace}/${owner.name}` : owner.name);
      owner = known.get(owner.owners[0] ?? "");
    }
    for (const name of names) found.set(name, (found.get(name) ?? 0) + pod.gpus);
  }
  return found;
}

/** Pods, GPUs and nodes. */
function clusterSample(objects: Iterable<ObjectSummary>) {
  const pods: Record<string, number> = {};
  const gpus = { used: 0, total: 0 };
  const nodes = { ready: 0, total: 0 };
  for (const { pod, node } of objects) {
    if (pod) {
      pods[pod.phase] = (pods[pod.phase] ?? 0) + 1;
      gpus.used += pod.gpus;
    }
    if (!node) continue;
    nodes.total++;
    if (node.ready) nodes.ready++;
    gpus.total += node.gpus;
  }
  return { pods, gpus, nodes };
}

/** The samples of a recording: its time in equal parts. */
export function samplesOf(entries: readonly Entry[], parts = 240): Sample[] {
  const reconciles = entries.filter((one): one is ReconcileEntry => one.type === "reconcile");
  const [first, last] = [entries[0]?.at, entries.at(-1)?.at];
  if (first === undefined || last === undefined) return [];
  const width = Math.max(1000, (last - first) / parts);
  const totals = new Map<string, { total: number; totalErrors: number }>();
  const samples: Sample[] = [];
  let i = 0;
  for (let from = first; from <= last; from += width) {
    const counted = new Map<string, Counted>();
    let changes = 0;
    while (i < reconciles.length && reconciles[i]!.at < from + width) {
      countReconcile(counted, reconciles[i]!);
      changes += reconciles[i++]!.writes.length;
    }
    const controllers = [...counted].map(([name, one]) => {
      const before = totals.get(name) ?? { total: 0, totalErrors: 0 };
      const now = { total: before.total + one.reconciles, totalErrors: before.totalErrors + one.errors };
      totals.set(name, now);
      return { ...controllerSample(name, one, width / 1000), ...now };
    });
    samples.push({ ...clusterSample([]), sizes: [], at: from + width, controllers, changes: changes / (width / 1000) });
  }
  return samples;
}
