import type { Client } from "@konverge/client";
import type { ControllerSample, ObjectSummary, SizeSample } from "./protocol.ts";

/** The default port of operators' metrics. */
const METRICS_PORT = 8080;

/** What the series of a controller added up to. */
interface Totals {
  reconciles: number;
  errors: number;
  retries: number;
  depth: number;
  working: number;
  /** Upper bounds in seconds, and how many reconciles took at most that long. */
  buckets: [number, number][];
}

interface Scrape {
  readonly at: number;
  readonly controllers: ReadonlyMap<string, Totals>;
}

/** What the metrics of an operator's pod say. */
interface OperatorSample {
  readonly controllers: ControllerSample[];
  readonly sizes: Omit<SizeSample, "gpus">[];
}

/** Reads the metrics of operators through the API server, with the permission to `get pods/proxy`. */
export class OperatorMetrics {
  readonly #client: Client;
  readonly #before = new Map<string, Scrape>();

  constructor(client: Client) {
    this.#client = client;
  }

  /** What the controllers of an operator's pod did since the last time; undefined if its metrics cannot be read. */
  async read(pod: ObjectSummary): Promise<OperatorSample | undefined> {
    const path = `/api/v1/namespaces/${pod.namespace}/pods/${pod.name}:${METRICS_PORT}/proxy/metrics`;
    const text = await this.#client
      .request({ method: "GET", path, accept: "text/plain" }, { timeout: 2000 })
      .catch(() => undefined);
    if (text === undefined) return undefined;
    const scrape = { at: this.#client.clock.monotonic(), controllers: totalsIn(text) };
    const before = this.#before.get(pod.id);
    this.#before.set(pod.id, scrape);
    const leads = leadsIn(text);
    const controllers = [...scrape.controllers].map(([controller, totals]) => {
      const seconds = before ? (scrape.at - before.at) / 1000 : 0;
      const sample = sampleOf(
        pod.operator ?? pod.name,
        controller,
        totals,
        before?.controllers.get(controller),
        seconds,
      );
      return { ...sample, pod: pod.name, ...(leads !== undefined && { leads }) };
    });
    return { controllers, sizes: sizesIn(text) };
  }

  forget(id: string): void {
    this.#before.delete(id);
  }
}

function sampleOf(operator: string, controller: string, now: Totals, before: Totals | undefined, seconds: number) {
  const rate = (field: "reconciles" | "errors" | "retries") =>
    before && seconds > 0 ? Math.max(0, now[field] - before[field]) / seconds : 0;
  const since = now.buckets.map(([bound, count], i): [number, number] => [
    bound,
    count - (before?.buckets[i]?.[1] ?? 0),
  ]);
  const buckets = before && (since.at(-1)?.[1] ?? 0) > 0 ? since : [];
  const [p50, p95] = [quantile(buckets, 0.5), quantile(buckets, 0.95)];
  return {
    operator,
    controller,
    rate: rate("reconciles"),
    errors: rate("errors"),
    retries: rate("retries"),
    writes: 0,
    depth: now.depth,
    working: now.working,
    ...(p50 !== undefined && { p50 }),
    ...(p95 !== undefined && { p95 }),
    total: now.reconciles,
    totalErrors: now.errors,
  };
}

/** Whether a pod is the leader; undefined without leader election. */
function leadsIn(text: string): boolean | undefined {
  const [, value] = /^leader_election_master_status\{[^}]*\} (\d)/m.exec(text) ?? [];
  return value === undefined ? undefined : value === "1";
}

/** As Prometheus' histogram_quantile: linear within the bucket. */
function quantile(buckets: readonly [number, number][], q: number): number | undefined {
  const total = buckets.at(-1)?.[1];
  if (!total) return undefined;
  const rank = q * total;
  const i = buckets.findIndex(([, count]) => count >= rank);
  const [bound, count] = buckets[i]!;
  const [lower, below] = buckets[i - 1] ?? [0, 0];
  if (!Number.isFinite(bound)) return lower;
  return lower + (bound - lower) * (count === below ? 1 : (rank - below) / (count - below));
}

const LINE = /^([a-z_]+)\{([^}]*)\} (\S+)/i;

/** The series of each controller in Prometheus' text format. */
export function totalsIn(text: string): Map<string, Totals> {
  const found = new Map<string, Totals>();
  for (const line of text.split("\n")) {
    const [, name, labelText, value] = LINE.exec(line) ?? [];
    if (!name || labelText === undefined) continue;
    const labels = labelsOf(labelText);
    const { controller } = labels;
    if (!controller) continue;
    let totals = found.get(controller);
    if (!totals) {
      totals = { reconciles: 0, errors: 0, retries: 0, depth: 0, working: 0, buckets: [] };
      found.set(controller, totals);
    }
    const number = Number(value);
    if (name === "controller_runtime_reconcile_total") totals.reconciles += number;
    else if (name === "controller_runtime_reconcile_errors_total") totals.errors += number;
    else if (name === "workqueue_retries_total") totals.retries += number;
    else if (name === "workqueue_depth") totals.depth += number;
    else if (name === "controller_runtime_active_workers") totals.working += number;
    else if (name === "controller_runtime_reconcile_time_seconds_bucket") {
      const bound = labels["le"] === "+Inf" ? Number.POSITIVE_INFINITY : Number(labels["le"]);
      totals.buckets.push([bound, number]);
    }
  }
  return found;
}

const SIZE = /^(.+)_(requests_per_second|replicas_wanted|replicas_ready)$/;
const SIZE_FIELDS = { requests_per_second: "load", replicas_wanted: "wanted", replicas_ready: "ready" } as const;

/** The objects whose load an operator measures, by gauges such as `llm_deployment_requests_per_second`. */
export function sizesIn(text: string): Omit<SizeSample, "gpus">[] {
  const found = new Map<string, { name: string; load?: number; wanted?: number; ready?: number }>();
  for (const line of text.split("\n")) {
    const [, series = "", labelText = "", value] = LINE.exec(line) ?? [];
    const [, of, field] = SIZE.exec(series) ?? [];
    const { namespace, name } = labelsOf(labelText);
    if (!of || !name) continue;
    const key = `${of} ${namespace}/${name}`;
    const size = found.get(key) ?? { name: namespace ? `${namespace}/${name}` : name };
    size[SIZE_FIELDS[field as keyof typeof SIZE_FIELDS]] = Number(value);
    found.set(key, size);
  }
  return [...found.values()].flatMap(({ load, ...size }) => (load === undefined ? [] : [{ ...size, load }]));
}

function labelsOf(text: string): Record<string, string | undefined> {
  return Object.fromEntries([...text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map((match) => [match[1]!, match[2]!]));
}
