import assert from "node:assert/strict";
import { test } from "node:test";
import type { PersistentVolumeClaim } from "konverge/kinds";
import { desiredSize, storageStep } from "./storage.ts";

const claim = (request: string, capacity = request): PersistentVolumeClaim => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "data" },
  spec: { resources: { requests: { storage: request } } },
  status: { capacity: { storage: capacity } },
});
const GIB = 1_048_576;
const spec = (storage?: object) => ({ size: "1Gi", storage }) as unknown as Parameters<typeof desiredSize>[0];
const report = (size: number, used: number) => ({ role: "standby", term: 1, size, used });
const growing = { growWhenUsed: 85, step: "50%", limit: "4Gi" };

test("a claim grows, never shrinks, and is reported as growing", () => {
  assert.deepEqual(storageStep("2Gi", undefined), { step: "none" });
  assert.deepEqual(storageStep("2Gi", claim("1Gi")), { step: "grow", from: "1Gi", to: "2Gi" });
  assert.deepEqual(storageStep("1Gi", claim("2Gi")), { step: "refuse", has: "2Gi", asked: "1Gi" });
  assert.deepEqual(storageStep("2Gi", claim("2Gi", "1Gi")), { step: "growing", has: "1Gi", to: "2Gi" });
});

test("volumes that may grow do so when one is nearly full, one step at a time", () => {
  assert.deepEqual(desiredSize(spec(), [claim("1Gi")], [report(GIB, GIB)]), { size: "1Gi" });
  assert.deepEqual(desiredSize(spec(growing), [claim("1Gi")], [report(GIB, 100)]), { size: "1Gi" });
  assert.deepEqual(desiredSize(spec(growing), [claim("1Gi"), claim("1Gi")], [report(GIB, 0.9 * GIB)]), {
    size: "1536Mi",
  });
  // Not while the last step is on its way, by the claim or by the file system.
  assert.deepEqual(desiredSize(spec(growing), [claim("2Gi", "1Gi")], [report(GIB, GIB)]), { size: "2Gi" });
  assert.deepEqual(desiredSize(spec(growing), [claim("2Gi")], [report(GIB, GIB)]), { size: "2Gi" });
  // Another volume lags behind: it is to be as large first.
  assert.deepEqual(desiredSize(spec(growing), [claim("2Gi"), claim("1Gi")], [report(2 * GIB, 2 * GIB)]), {
    size: "2Gi",
  });
});

test("at the limit it is said that they cannot grow", () => {
  assert.deepEqual(desiredSize(spec(growing), [claim("3Gi")], [report(3 * GIB, 3 * GIB)]), { size: "4096Mi" });
  assert.deepEqual(desiredSize(spec(growing), [claim("4Gi")], [report(4 * GIB, 4 * GIB)]), {
    size: "4Gi",
    atLimit: true,
  });
});
