import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "konverge/kinds";
import { replicaProblem } from "./replica-problems.ts";

const unschedulable = (message: string): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p" },
  spec: { containers: [] },
  status: {
    conditions: [
      {
        type: "PodScheduled",
        status: "False",
        reason: "Unschedulable",
        message,
        lastTransitionTime: "2026-01-01T00:00:00Z",
      },
    ],
  },
});
const offered = ["A100", "H100"];
const now = Date.UTC(2026, 0, 1, 0, 1);

test("a type of GPU that no node has is distinguished from one that is all in use", () => {
  const pods = [unschedulable("0/6 nodes are available: 6 node(s) didn't match Pod's node affinity/selector.")];
  const unknown = { reason: "UnknownGpuType", message: "no node has GPUs of the type B200: there are A100, H100" };
  assert.deepEqual(replicaProblem({ pods, offered, now, gpuType: "B200" }), unknown);
  assert.deepEqual(replicaProblem({ pods, offered, now: now - 40_000, gpuType: "B200" }), unknown, "no node will come");
  const full = [unschedulable("0/6 nodes are available: 6 Insufficient nvidia.com/gpu.")];
  assert.equal(replicaProblem({ pods: full, offered, now, gpuType: "H100" })?.reason, "NoRoom");
  assert.equal(
    replicaProblem({ pods: full, offered, now: now - 40_000, gpuType: "H100" }),
    undefined,
    "a node may be on its way",
  );
});

test("problems other than the GPU are reported first", () => {
  const pods = [unschedulable('0/6 nodes are available: persistentvolumeclaim "weights" not found.')];
  assert.equal(replicaProblem({ pods, offered, now, gpuType: "B200" })?.reason, "ClaimMissing");
});
