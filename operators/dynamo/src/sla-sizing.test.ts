import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { latencyMs, replicasFor, waitProbability } from "./sla-sizing.ts";

test("the chance to wait is Erlang's: 10 Erlang on 12 servers", () => {
  assert.ok(Math.abs(waitProbability(10, 12) - 0.4494) < 0.0005);
  assert.ok(Math.abs(waitProbability(0.5, 1) - 0.5) < 1e-9);
});

test("one replica less would break the promise", () => {
  fc.assert(
    fc.property(
      fc.record({
        throughput: fc.integer({ min: 1, max: 5000 }),
        serviceTimeMs: fc.integer({ min: 1, max: 500 }),
        concurrency: fc.integer({ min: 1, max: 64 }),
        slack: fc.double({ min: 1.01, max: 5, noNaN: true }),
      }),
      ({ slack, ...rest }) => {
        const maxLatencyMs = Math.ceil(rest.serviceTimeMs * slack);
        const replicas = replicasFor({ ...rest, maxLatencyMs });
        if (replicas === undefined) return;
        const load = (rest.throughput * rest.serviceTimeMs) / 1000;
        const kept = (n: number) => {
          const servers = n * rest.concurrency;
          return servers > load && latencyMs(load, servers, rest.serviceTimeMs) <= maxLatencyMs;
        };
        assert.ok(kept(replicas));
        assert.ok(replicas === 1 || !kept(replicas - 1));
      },
    ),
  );
});

test("more load never takes fewer replicas", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2000 }), fc.integer({ min: 0, max: 2000 }), (a, b) => {
      const size = (throughput: number) =>
        replicasFor({ throughput, maxLatencyMs: 80, serviceTimeMs: 50, concurrency: 4 })!;
      assert.ok(size(Math.min(a, b)) <= size(Math.max(a, b)));
    }),
  );
});

test("a promise that one request alone breaks cannot be kept", () => {
  assert.equal(replicasFor({ throughput: 1, maxLatencyMs: 10, serviceTimeMs: 50, concurrency: 8 }), undefined);
});
