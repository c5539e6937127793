import type { PartOfRequest, ServerSample } from "./measurement.ts";

/** Under which names an inference server reports its requests. */
interface MetricNames {
  /** What the names of its metrics begin with. */
  readonly prefix: string;
  /** A counter of requests that were answered. */
  readonly answered: string;
  /** Gauges of requests that it works on or holds back. */
  readonly pending: readonly string[];
  /** A counter of responses, and the label with their status: those with 5xx failed in the server. */
  readonly responses: { readonly name: string; readonly status: string };
  /** Histograms of the time of a request without waiting; the first that is there counts. */
  readonly service: readonly string[];
  /** The histogram of the whole time of a request. */
  readonly latency: string;
  /** Histograms of parts of requests. Some versions report a part under two names: the first counts. */
  readonly parts: readonly (readonly [PartOfRequest, readonly string[]])[];
}

const VLLM: MetricNames = {
  prefix: "vllm:",
  answered: "vllm:request_success_total",
  pending: ["vllm:num_requests_running", "vllm:num_requests_waiting"],
  // Of the web framework.
  responses: { name: "http_requests_total", status: "status" },
  // Older versions report only the total.
  service: ["vllm:request_inference_time_seconds", "vllm:e2e_request_latency_seconds"],
  latency: "vllm:e2e_request_latency_seconds",
  parts: [
    ["timeToFirstToken", ["vllm:time_to_first_token_seconds"]],
    ["interTokenLatency", ["vllm:inter_token_latency_seconds", "vllm:time_per_output_token_seconds"]],
    ["queueTime", ["vllm:request_queue_time_seconds"]],
  ],
};

const SGLANG: MetricNames = {
  prefix: "sglang:",
  answered: "sglang:num_requests_total",
  pending: ["sglang:num_running_reqs", "sglang:num_queue_reqs"],
  responses: { name: "sglang:http_responses_total", status: "status_code" },
  service: ["sglang:e2e_request_latency_seconds"],
  latency: "sglang:e2e_request_latency_seconds",
  parts: [
    ["timeToFirstToken", ["sglang:time_to_first_token_seconds"]],
    ["interTokenLatency", ["sglang:inter_token_latency_seconds", "sglang:time_per_output_token_seconds"]],
    ["queueTime", ["sglang:queue_time_seconds"]],
  ],
};

/**
 * Reads what vLLM answers at /metrics; undefined if there is nothing of vLLM in it. Series of several models or reasons are
 * added up.
 */
export const readVllmMetrics = (text: string): ServerSample | undefined => sampleOf(text, VLLM);

/** The same for SGLang, started with `--enable-metrics`. */
export const readSglangMetrics = (text: string): ServerSample | undefined => sampleOf(text, SGLANG);

/** What vLLM or SGLang answers at /metrics; undefined if it is neither. */
export function readInferenceMetrics(text: string): ServerSample | undefined {
  return readVllmMetrics(text) ?? readSglangMetrics(text);
}

function sampleOf(text: string, names: MetricNames): ServerSample | undefined {
  const failure = new RegExp(`(?:^|,)\\s*${names.responses.status}="5`);
  const histograms = new Histograms([names.latency, ...names.service, ...names.parts.flatMap(([, series]) => series)]);
  let isKnown = false;
  let answered = 0;
  let pending = 0;
  let failed = 0;
  for (const line of text.split("\n")) {
    const [, name = "", labels = "", number = ""] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)/.exec(line) ?? [];
    const value = Number(number);
    if (!Number.isFinite(value)) continue;
    if (name === names.responses.name && failure.test(labels)) failed += value;
    if (!name.startsWith(names.prefix)) continue;
    isKnown = true;
    if (name === names.answered) answered += value;
    else if (names.pending.includes(name)) pending += value;
    else histograms.add(name, labels, value);
  }
  if (!isKnown) return undefined;
  const parts = new Map<PartOfRequest, ReadonlyMap<number, number>>();
  for (const [part, series] of names.parts) {
    const buckets = histograms.bucketsOf(series);
    if (buckets) parts.set(part, buckets);
  }
  const latency = histograms.bucketsOf([names.latency]) ?? new Map<number, number>();
  return { answered, pending, failed, service: histograms.totalOf(names.service), latency, parts };
}

/** The histograms of a page with these names, each the sum of its series. */
class Histograms {
  readonly #names: ReadonlySet<string>;
  readonly #buckets = new Map<string, Map<number, number>>();
  readonly #totals = new Map<string, { sum: number; count: number }>();

  constructor(names: readonly string[]) {
    this.#names = new Set(names);
  }

  add(name: string, labels: string, value: number): void {
    const [, series = "", part] = /^(.*)_(bucket|sum|count)$/.exec(name) ?? [];
    if (!this.#names.has(series)) return;
    if (part === "bucket") {
      const buckets = this.#buckets.get(series) ?? new Map<number, number>();
      const bound = boundOf(labels);
      this.#buckets.set(series, buckets.set(bound, (buckets.get(bound) ?? 0) + value));
    } else {
      const total = this.#totals.get(series) ?? { sum: 0, count: 0 };
      total[part as "sum" | "count"] += value;
      this.#totals.set(series, total);
    }
  }

  /** The buckets of the first of these that has some. */
  bucketsOf(names: readonly string[]): ReadonlyMap<number, number> | undefined {
    return names.map((name) => this.#buckets.get(name)).find((one) => one !== undefined);
  }

  /** Sum and number of the first of these that has observations. */
  totalOf(names: readonly string[]): { sum: number; count: number } {
    const found = names.map((name) => this.#totals.get(name)).find((one) => one !== undefined && one.count > 0);
    return found ?? { sum: 0, count: 0 };
  }
}

function boundOf(labels: string): number {
  const text = /(?:^|,)\s*le="([^"]*)"/.exec(labels)?.[1] ?? "+Inf";
  return text === "+Inf" ? Number.POSITIVE_INFINITY : Number(text);
}
