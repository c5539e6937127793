import type { ServerSample } from "./measurement.ts";

/** The metrics in which vLLM reports the time of a request; older versions report only the total. */
const SERVICE = ["vllm:request_inference_time_seconds", "vllm:e2e_request_latency_seconds"];
const LATENCY = "vllm:e2e_request_latency_seconds";

/**
 * Reads what vLLM answers at /metrics; undefined if there is nothing of vLLM in it. Series of several models or reasons are
 * added up.
 */
export function readVllmMetrics(text: string): ServerSample | undefined {
  let isVllm = false;
  let answered = 0;
  let pending = 0;
  const sums = new Map<string, { sum: number; count: number }>();
  const latency = new Map<number, number>();
  for (const line of text.split("\n")) {
    const [, name = "", labels = "", number = ""] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)/.exec(line) ?? [];
    const value = Number(number);
    if (!name.startsWith("vllm:") || !Number.isFinite(value)) continue;
    isVllm = true;
    if (name === "vllm:request_success_total") answered += value;
    else if (name === "vllm:num_requests_running" || name === "vllm:num_requests_waiting") pending += value;
    else if (name === `${LATENCY}_bucket`) {
      const bound = boundOf(labels);
      latency.set(bound, (latency.get(bound) ?? 0) + value);
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
  return { answered, pending, service: service ?? { sum: 0, count: 0 }, latency };
}

function boundOf(labels: string): number {
  const text = /(?:^|,)\s*le="([^"]*)"/.exec(labels)?.[1] ?? "+Inf";
  return text === "+Inf" ? Number.POSITIVE_INFINITY : Number(text);
}
