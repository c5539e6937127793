import type { PartOfRequest, ServerSample } from "./measurement.ts";

/** The metrics in which vLLM reports the time of a request; older versions report only the total. */
const SERVICE = ["vllm:request_inference_time_seconds", "vllm:e2e_request_latency_seconds"];
const LATENCY = "vllm:e2e_request_latency_seconds";
/** The histograms of parts of requests. Some versions report the time between tokens under both names: the first counts. */
const PARTS: readonly (readonly [PartOfRequest, readonly string[]])[] = [
  ["timeToFirstToken", ["vllm:time_to_first_token_seconds"]],
  ["interTokenLatency", ["vllm:inter_token_latency_seconds", "vllm:time_per_output_token_seconds"]],
  ["queueTime", ["vllm:request_queue_time_seconds"]],
];
/** The web framework's count of answers; those with a status of 5xx failed in the server. */
const ANSWERS = "http_requests_total";
const HISTOGRAMS = new Set([LATENCY, ...PARTS.flatMap(([, names]) => names)]);

/**
 * Reads what vLLM answers at /metrics; undefined if there is nothing of vLLM in it. Series of several models or reasons are
 * added up.
 */
export function readVllmMetrics(text: string): ServerSample | undefined {
  let isVllm = false;
  let answered = 0;
  let pending = 0;
  let failed = 0;
  const sums = new Map<string, { sum: number; count: number }>();
  const histograms = new Map<string, Map<number, number>>();
  for (const line of text.split("\n")) {
    const [, name = "", labels = "", number = ""] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)/.exec(line) ?? [];
    const value = Number(number);
    if (name === ANSWERS && Number.isFinite(value) && /(?:^|,)\s*status="5/.test(labels)) failed += value;
    if (!name.startsWith("vllm:") || !Number.isFinite(value)) continue;
    isVllm = true;
    if (name === "vllm:request_success_total") answered += value;
    else if (name === "vllm:num_requests_running" || name === "vllm:num_requests_waiting") pending += value;
    else if (name.endsWith("_bucket") && HISTOGRAMS.has(name.slice(0, -"_bucket".length))) {
      const series = name.slice(0, -"_bucket".length);
      const buckets = histograms.get(series) ?? new Map<number, number>();
      const bound = boundOf(labels);
      buckets.set(bound, (buckets.get(bound) ?? 0) + value);
      histograms.set(series, buckets);
    }
    for (const series of SERVICE) {
      const part = name === `${series}_sum` ? "sum" : name === `${series}_count` ? "count" : undefined;
      if (!part) continue;
      const known = sums.get(series) ?? { sum: 0, count: 0 };
      sums.set(series, { ...known, [part]: known[part] + value });
    }
  }
  const service = SERVICE.map((name) => sums.get(name)).find((one) => one !== undefined && one.count > 0);
  if (!isVllm) return undefined;
  const parts = new Map<PartOfRequest, Map<number, number>>();
  for (const [part, names] of PARTS) {
    const buckets = names.map((name) => histograms.get(name)).find((one) => one !== undefined);
    if (buckets) parts.set(part, buckets);
  }
  const latency = histograms.get(LATENCY) ?? new Map<number, number>();
  return { answered, pending, failed, service: service ?? { sum: 0, count: 0 }, latency, parts };
}

function boundOf(labels: string): number {
  const text = /(?:^|,)\s*le="([^"]*)"/.exec(labels)?.[1] ?? "+Inf";
  return text === "+Inf" ? Number.POSITIVE_INFINITY : Number(text);
}
