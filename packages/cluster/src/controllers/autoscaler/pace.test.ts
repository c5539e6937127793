import assert from "node:assert/strict";
import { test } from "node:test";
import type { HorizontalPodAutoscaler } from "@konverge/kinds";
import { type History, noteScaled, pace } from "./pace.ts";

const MINUTE = 60_000;
const empty = (): History => ({ recommendations: [], ups: [], downs: [] });
const autoscaler = (behavior: object = {}, maxReplicas = 100): HorizontalPodAutoscaler => ({
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
  metadata: { name: "web" },
  spec: { scaleTargetRef: { kind: "Deployment", name: "web" }, minReplicas: 2, maxReplicas, behavior },
});

test("upwards it goes at once, but at most to twice the size or by four", () => {
  assert.deepEqual(pace(autoscaler(), empty(), 10, 50, 0), { replicas: 20, limit: "ScaleUpLimit" });
  assert.deepEqual(pace(autoscaler(), empty(), 2, 50, 0), { replicas: 6, limit: "ScaleUpLimit" });
  assert.deepEqual(pace(autoscaler({}, 15), empty(), 10, 50, 0), { replicas: 15, limit: "TooManyReplicas" });
});

test("replicas added within the period count toward the limit", () => {
  const history = empty();
  const hpa = autoscaler({ scaleUp: { policies: [{ type: "Pods", value: 3, periodSeconds: 60 }] } });
  noteScaled(hpa, history, 4, 6, 0);
  assert.equal(pace(hpa, history, 6, 20, 30_000).replicas, 7);
  assert.equal(pace(hpa, history, 6, 20, 2 * MINUTE).replicas, 9);
});

test("downwards it waits until no recommendation of the last five minutes was higher", () => {
  const history = empty();
  const hpa = autoscaler();
  assert.equal(pace(hpa, history, 10, 10, 0).replicas, 10);
  assert.deepEqual(pace(hpa, history, 10, 4, MINUTE), { replicas: 10, stabilized: "ScaleDownStabilized" });
  assert.equal(pace(hpa, history, 10, 6, 4 * MINUTE).replicas, 10);
  assert.equal(pace(hpa, history, 10, 4, 5 * MINUTE + 1).replicas, 6);
  assert.deepEqual(pace(hpa, empty(), 10, 1, 0), { replicas: 2, limit: "TooFewReplicas" });
});

test("rules can choose the smallest change, forbid one, or wait on the way up", () => {
  const policies = [
    { type: "Pods", value: 1, periodSeconds: 15 },
    { type: "Percent", value: 50, periodSeconds: 15 },
  ];
  const careful = autoscaler({ scaleDown: { stabilizationWindowSeconds: 0, selectPolicy: "Min", policies } });
  assert.deepEqual(pace(careful, empty(), 10, 2, 0), { replicas: 9, limit: "ScaleDownLimit" });
  const never = autoscaler({ scaleDown: { stabilizationWindowSeconds: 0, selectPolicy: "Disabled" } });
  assert.equal(pace(never, empty(), 10, 2, 0).replicas, 10);
  const slow = autoscaler({ scaleUp: { stabilizationWindowSeconds: 60 } });
  const history = empty();
  assert.equal(pace(slow, history, 5, 5, 0).replicas, 5);
  assert.deepEqual(pace(slow, history, 5, 8, 30_000), { replicas: 5, stabilized: "ScaleUpStabilized" });
  assert.equal(pace(slow, history, 5, 8, 61_000).replicas, 8);
});
