import assert from "node:assert/strict";
import { test } from "node:test";
import { DynamoGraphDeployment } from "./graph-deployment.ts";
import { typeOf } from "./names.ts";

test("nothing is lost between the versions", () => {
  const full = DynamoGraphDeployment.new({
    metadata: { name: "g" },
    spec: {
      envs: [{ name: "A", value: "1" }],
      services: { Frontend: { replicas: 2, ingress: { enabled: true } } },
      restart: { id: "1", strategy: { type: "Parallel" } },
      build: { context: "git://x", destination: "y" },
      sla: { maxLatencyMs: 100, minThroughput: 2.5 },
      model: { name: "m", placement: { tensorParallelSize: 4, gpuType: "H100" } },
    },
  });
  const there = DynamoGraphDeployment.convert(full, "v1");
  // As on a server: a new object has no status, and the stored one says that it has not been observed.
  const stored = { ...full, status: { observedGeneration: -1 } };
  assert.deepEqual(DynamoGraphDeployment.convert(there, "v1alpha1"), stored);
});

test("a service's name tells what it is, unless it says so itself", () => {
  assert.deepEqual(
    ["Frontend", "VllmWorker", "PrefillWorker", "Processor", "Planner"].map((name) => typeOf(name, {})),
    ["frontend", "worker", "prefill", "default", "planner"],
  );
  assert.equal(typeOf("Frontend", { componentType: "worker" }), "worker");
});
