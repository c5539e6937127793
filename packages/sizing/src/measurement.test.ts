import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { measuredOver, type PartOfRequest, quantile, type Scrape } from "./measurement.ts";
import { readVllmMetrics } from "./server-metrics.ts";

const metrics = (answered: number, waiting: number, le: Record<string, number> = {}) => `
# HELP vllm:num_requests_running Number of requests in model execution batches.
vllm:num_requests_running{model_name="m"} 2.0
vllm:num_requests_waiting{model_name="m"} ${waiting}.0
vllm:request_success_total{finished_reason="stop",model_name="m"} ${answered - 1}.0
vllm:request_success_total{finished_reason="length",model_name="m"} 1.0
vllm:request_inference_time_seconds_sum{model_name="m"} ${answered * 0.05}
vllm:request_inference_time_seconds_count{model_name="m"} ${answered}
vllm:e2e_request_latency_seconds_sum{model_name="m"} ${answered * 0.08}
vllm:e2e_request_latency_seconds_count{model_name="m"} ${answered}
${Object.entries(le)
  .map(([bound, count]) => `vllm:e2e_request_latency_seconds_bucket{le="${bound}",model_name="m"} ${count}`)
  .join("\n")}
process_start_time_seconds 1.7e9
`;
/** Replicas of before the first scrape, unless they are said to be created later. */
const scrape = (at: number, pods: Record<string, string>, created: Record<string, number> = {}): Scrape => ({
  at,
  samples: new Map(
    Object.entries(pods).map(([pod, text]) => [
      pod,
      { ...readVllmMetrics(text)!, createdAt: created[pod] ?? Number.NEGATIVE_INFINITY },
    ]),
  ),
  serving: new Set(Object.keys(pods)),
});
const measuredBetween = (before: Scrape, after: Scrape, part: number) => measuredOver([before, after], part);

test("vLLM's own names are read, and series of several reasons are added up", () => {
  const sample = readVllmMetrics(metrics(10, 3, { "0.1": 8, "+Inf": 10 }))!;
  assert.equal(sample.answered, 10);
  assert.equal(sample.pending, 5);
  assert.deepEqual(sample.service, { sum: 0.5, count: 10 });
  assert.deepEqual(
    [...sample.latency],
    [
      [0.1, 8],
      [Number.POSITIVE_INFINITY, 10],
    ],
  );
});

test("answers with a status of 5xx are requests that failed, besides those that were answered", () => {
  const answers = (status: string, count: number) =>
    `http_requests_total{handler="/v1/completions",method="POST",status="${status}"} ${count}`;
  const text = (failed: number) =>
    [metrics(30, 0), answers("2xx", 30), answers("4xx", 7), answers("5xx", failed)].join("\n");
  assert.equal(readVllmMetrics(text(10))?.failed, 10);
  const before = scrape(0, { a: metrics(0, 0) });
  assert.equal(measuredBetween(before, scrape(60_000, { a: text(10) }), 0.95)?.errorRate, 0.25);
  const few = scrape(60_000, { a: metrics(12, 0) });
  assert.equal(measuredBetween(before, few, 0.95)?.errorRate, undefined, "too few requests");
});

test("a server that does not report its service time is taken at its latency", () => {
  const text = metrics(10, 0).replaceAll(/^vllm:request_inference.*$/gm, "");
  assert.equal(readVllmMetrics(text)?.service.sum, 0.8);
});

test("parts of requests are read, and those between tokens once, under either name", () => {
  const histogram = (name: string, counts: Record<string, number>) =>
    Object.entries(counts)
      .map(([le, count]) => `vllm:${name}_bucket{model_name="m",le="${le}"} ${count}`)
      .join("\n");
  const part = (text: string, name: PartOfRequest) => [...(readVllmMetrics(text)?.parts?.get(name) ?? [])];
  const tokens = { "0.05": 90, "+Inf": 100 };
  const read = [
    [0.05, 90],
    [Number.POSITIVE_INFINITY, 100],
  ];
  for (const names of [["inter_token_latency_seconds"], ["time_per_output_token_seconds"]])
    assert.deepEqual(part(histogram(names[0]!, tokens), "interTokenLatency"), read);
  const both = `${histogram("time_per_output_token_seconds", tokens)}\n${histogram("inter_token_latency_seconds", tokens)}`;
  assert.deepEqual(part(both, "interTokenLatency"), read);
  assert.deepEqual(part(histogram("time_to_first_token_seconds", tokens), "timeToFirstToken"), read);
  assert.deepEqual(part(histogram("request_queue_time_seconds", tokens), "queueTime"), read);
});

test("percentiles of parts come from what the buckets grew by, on all servers", () => {
  const first = (fast: number, all: number) =>
    `${metrics(all, 0)}\nvllm:time_to_first_token_seconds_bucket{le="0.1"} ${fast}\nvllm:time_to_first_token_seconds_bucket{le="0.5"} ${all}\nvllm:time_to_first_token_seconds_bucket{le="+Inf"} ${all}`;
  const before = scrape(0, { a: first(1000, 1000), b: first(0, 500) });
  const after = scrape(60_000, { a: first(1050, 1050), b: first(0, 550) });
  const { percentiles } = measuredBetween(before, after, 0.75)!;
  assert.ok(Math.abs(percentiles!.timeToFirstToken! - 0.3) < 1e-9, String(percentiles?.timeToFirstToken));
  const few = scrape(60_000, { a: first(1010, 1010), b: first(0, 505) });
  assert.deepEqual(measuredBetween(before, few, 0.75)?.percentiles, {});
});

test("what is not vLLM's says nothing", () => {
  assert.equal(readVllmMetrics("<html>"), undefined);
  assert.equal(readVllmMetrics("process_start_time_seconds 1.7e9\nvllm:request_success_total NaN"), undefined);
});

test("load is what was answered and what the queues grew by", () => {
  const before = scrape(0, { a: metrics(100, 0), b: metrics(100, 0) });
  const after = scrape(10_000, { a: metrics(150, 10), b: metrics(130, 0) });
  const measured = measuredBetween(before, after, 0.95);
  assert.equal(measured?.load, (50 + 30 + 10) / 10);
  assert.ok(Math.abs((measured?.serviceTime ?? 0) - 0.05) < 1e-9);
});

test("a queue that shrinks faster than by chance, and will soon be empty, is being drained", () => {
  const drained = (answered: number, from: number, to: number) =>
    measuredBetween(scrape(0, { a: metrics(0, from) }), scrape(60_000, { a: metrics(answered, to) }), 0.95)?.draining;
  assert.equal(drained(1000, 300, 100), true);
  assert.equal(drained(1000, 300, 0), true);
  assert.equal(drained(1000, 300, 250), false, "it takes long");
  assert.equal(drained(1000, 30, 10), false, "it is small");
  assert.equal(drained(1000, 100, 300), false, "it grows");
});

test("a replica that restarted, or is new, counts from zero", () => {
  const before = scrape(0, { a: metrics(100, 0) });
  const after = scrape(10_000, { a: metrics(20, 0), b: metrics(10, 0) }, { b: 3_000 });
  // Two requests are in the works on each; those of the replicas that are new arrived meanwhile.
  assert.equal(measuredBetween(before, after, 0.95)?.load, (20 + 2 + 10 + 2) / 10);
});

test("a replica that one scrape did not read does not count all requests since its start", () => {
  const at = (time: number, more: Record<string, string>) =>
    scrape(time, { a: metrics(1000 + time / 1000, 0), ...more });
  const b = (time: number) => ({ b: metrics(100_000 + time / 1000, 0) });
  const unread = (time: number): Scrape => ({ ...at(time, {}), serving: new Set(["a", "b"]) });
  const loads = (scrapes: Scrape[]) => measuredOver(scrapes, 0.95)?.load;
  const all = [at(0, b(0)), at(15_000, b(15_000)), at(30_000, b(30_000))];
  assert.equal(loads(all), 2);
  assert.equal(loads([all[0]!, unread(15_000), all[2]!]), 2);
  assert.equal(loads([all[0]!, all[1]!, unread(30_000)]), 2, "it goes on as before");
  // What it did before it was read is unknown.
  assert.equal(loads([unread(0), all[1]!, all[2]!]), 1.5);
  assert.equal(loads([unread(0), unread(15_000), all[2]!]), 1);
  // It was not ready: it took no requests, and what it did while it did take some counts.
  assert.equal(loads([all[0]!, all[1]!, at(30_000, {})]), 1.5);
  assert.equal(loads([at(0, {}), at(15_000, {}), all[2]!]), 1, "not ready when the operator started");
});

test("a percentile is reported only for enough requests", () => {
  const before = scrape(0, { a: metrics(1, 0, { "0.1": 1, "0.2": 1, "+Inf": 1 }) });
  const few = scrape(1_000, { a: metrics(10, 0, { "0.1": 10, "0.2": 10, "+Inf": 10 }) });
  const many = scrape(1_000, { a: metrics(101, 0, { "0.1": 51, "0.2": 101, "+Inf": 101 }) });
  assert.equal(measuredBetween(before, few, 0.95)?.latency, undefined);
  assert.ok(Math.abs((measuredBetween(before, many, 0.95)?.latency ?? 0) - 0.19) < 1e-9);
});

test("a quantile lies within its bucket and grows with the part", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 8 }),
      fc.double({ min: 0.01, max: 0.99, noNaN: true }),
      (counts, part) => {
        const total = counts.reduce((sum, count) => sum + count, 0);
        const upTo = (i: number) => counts.slice(0, i + 1).reduce((sum, count) => sum + count, 0);
        const buckets = new Map(counts.map((_, i) => [(i + 1) / 10, upTo(i)] as const));
        const found = quantile(buckets, part);
        if (total === 0) return assert.equal(found, undefined);
        assert.ok(found !== undefined && found >= 0 && found <= counts.length / 10 + 1e-9);
        assert.ok((quantile(buckets, Math.min(0.999, part + 0.1)) ?? 0) >= found - 1e-9);
      },
    ),
  );
});
