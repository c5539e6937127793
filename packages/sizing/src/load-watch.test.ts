import assert from "node:assert/strict";
import { test } from "node:test";
import { realClock } from "@konverge/core";
import type { Pod } from "@konverge/kinds";
import { LoadMonitor, measurementOf, SCRAPE_PERIOD_MS } from "./load-watch.ts";

const BEGIN = Date.parse("2026-01-01T00:00:00Z");

/** Two servers that have answered one request per second for a day; a third is created when the test says so. */
function servers() {
  let now = 1_000_000;
  const clock = Object.create(realClock(), {
    monotonic: { value: () => now },
    now: { value: () => BEGIN + now },
  }) as ReturnType<typeof realClock>;
  const late = new Set<string>();
  const since = new Map<string, number>();
  const monitor = new LoadMonitor(async (url) => {
    const name = /10\.0\.0\.(.)/.exec(url)![1]!;
    if (late.has(name)) throw new Error("the server responds after the timeout");
    const answered = (now - since.get(name)!) / 1000;
    return [
      `vllm:request_success_total{finished_reason="stop"} ${answered}`,
      "vllm:num_requests_running 0",
      `vllm:e2e_request_latency_seconds_sum ${answered}`,
      `vllm:e2e_request_latency_seconds_count ${answered}`,
    ].join("\n");
  }, 8000);
  const create = (name: string, age: number): Pod => {
    since.set(name, now - age);
    const creationTimestamp = new Date(BEGIN + now - age).toISOString();
    return { metadata: { name, uid: name, creationTimestamp }, status: { podIP: `10.0.0.${name}` } } as Pod;
  };
  const memory = monitor.memory("uid", clock);
  const measure = async (pods: readonly Pod[]) => {
    now += SCRAPE_PERIOD_MS;
    return monitor.measure(memory, pods, 0.95, clock);
  };
  return { create, measure, late, memory };
}

const DAY = 86_400_000;

test("a scrape that fails once, or misses a replica that is not ready for a moment, does not change the load", async () => {
  const { create, measure, late } = servers();
  const [a, b] = [create("1", DAY), create("2", DAY)];
  const loads: number[] = [];
  for (let round = 0; round < 20; round++) {
    if (round === 5) late.add("2");
    if (round === 6) late.clear();
    const measured = await measure(round === 12 ? [a!] : [a!, b!]);
    if (measured) loads.push(measured.load);
  }
  assert.ok(Math.max(...loads) < 2.01 && Math.min(...loads) > 1.7, loads.join(" "));
});

test("a replica that was not ready when the operator started does not count all requests since its start", async () => {
  const { create, measure } = servers();
  const [a, b] = [create("1", DAY), create("2", DAY)];
  await measure([a!]);
  const loads: number[] = [];
  for (let round = 0; round < 8; round++) loads.push((await measure([a!, b!]))!.load);
  assert.ok(Math.max(...loads) < 2.01, loads.join(" "));
  assert.equal(loads.at(-1), 2);
});

test("a replica that is created within the window counts from its start", async () => {
  const { create, measure, memory } = servers();
  const a = create("1", DAY);
  for (let round = 0; round < 6; round++) await measure([a]);
  const b = create("2", 0);
  assert.equal((await measure([a, b]))!.load, 1.25);
  assert.equal(measurementOf(memory, [b], 0.95)!.requests, 15);
  assert.equal(measurementOf(memory, [a], 0.95, "all")!.requests, DAY / 1000 + 7 * 15);
});
