/** Series that tell how many requests a pod works on or holds back, by the names of vLLM and of Dynamo's own parts. */
export const IN_FLIGHT: readonly string[] = [
  "vllm:num_requests_running",
  "vllm:num_requests_waiting",
  "dynamo_component_inflight_requests",
  "dynamo_frontend_inflight_requests",
  "dynamo_frontend_queued_requests",
  // The names of Dynamo 0.5.1 alone: gauges, in spite of them.
  "dynamo_frontend_inflight_requests_total",
  "dynamo_frontend_queued_requests_total",
];

/** How many requests a pod still has, as its metrics tell; undefined if they do not tell. */
export function inFlight(metrics: string | undefined): number | undefined {
  let requests: number | undefined;
  for (const line of metrics?.split("\n") ?? []) {
    const [, name = "", number = ""] = /^([a-zA-Z_:][\w:]*)(?:\{.*\})?\s+(\S+)/.exec(line) ?? [];
    const value = Number(number);
    if (IN_FLIGHT.includes(name) && Number.isFinite(value)) requests = (requests ?? 0) + value;
  }
  return requests;
}
