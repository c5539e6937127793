import assert from "node:assert/strict";
import { test } from "node:test";
import { lastMinute } from "../page/last-minute.ts";
import type { ControllerSample, Sample } from "../src/protocol.ts";

function sample(at: number, rates: Record<string, number>, p95?: number): Sample {
  const controllers = Object.entries(rates).map(
    ([controller, rate]): ControllerSample => ({
      ...{ operator: "web-operator", controller, rate, errors: rate / 2, retries: 0, writes: 2 * rate },
      ...{ total: 0, totalErrors: 0, ...(p95 !== undefined && { p95 }) },
    }),
  );
  const [gpus, nodes] = [
    { used: 0, total: 0 },
    { ready: 0, total: 0 },
  ];
  return { at, controllers, pods: {}, gpus, nodes, changes: 0, sizes: [] };
}

test("rates are means of the last minute, and the latency is the last one that was measured in it", () => {
  const samples = [
    sample(0, { web: 100 }, 9),
    sample(70_000, { web: 3 }, 0.5),
    sample(100_000, { web: 0 }),
    sample(120_000, { web: 0, cache: 1 }),
  ];
  const [web, cache] = lastMinute(samples);
  assert.deepEqual([web?.rate, web?.errors, web?.writes, web?.p95], [1, 0.5, 2, 0.5]);
  assert.deepEqual([cache?.controller, cache?.rate, cache?.p95], ["cache", 1, undefined]);
  assert.deepEqual(lastMinute([]), []);
});

test("the replicas of an operator have a line each, with their own means", () => {
  const of = (pod: string, leads: boolean, rate: number): ControllerSample => ({
    ...sample(0, { web: rate }).controllers[0]!,
    pod,
    leads,
  });
  const two = { ...sample(120_000, {}), controllers: [of("web-1", true, 4), of("web-2", false, 0)] };
  assert.deepEqual(
    lastMinute([two]).map(({ pod, leads, rate }) => ({ pod, leads, rate })),
    [
      { pod: "web-1", leads: true, rate: 4 },
      { pod: "web-2", leads: false, rate: 0 },
    ],
  );
});
