import assert from "node:assert/strict";
import { llmOperatorWith, ModelDeployment } from "@konverge/llm-operator";
import { isReported, lateNode, type Scenario, type TestEnvironment, unpullable } from "@konverge/operator-suite";
import { isInvalid } from "konverge";
import { PersistentVolumeClaim } from "konverge/kinds";
import { deployment, operatorWithoutMetrics, untilDeployed } from "./model-deployment-scenarios.ts";

async function refused(stage: TestEnvironment, spec: object, words: RegExp, name = "bad"): Promise<void> {
  const bad = { metadata: { name, namespace: stage.namespace }, spec };
  await assert.rejects(stage.client.create(ModelDeployment, bad as never), (error: Error) => {
    assert.ok(isInvalid(error), String(error));
    assert.match(error.message, words);
    return true;
  });
}

/** The problem is reported by a condition and an event, and nothing is written while it lasts. */
const untilDegraded = (stage: TestEnvironment, name: string, reason: string) =>
  isReported(stage, ModelDeployment, name, {
    condition: new RegExp(`^Degraded True ${reason} .`),
    event: new RegExp(`^Warning ${reason} .`),
  });

const schemaErrors: Scenario = async (stage) => {
  await stage.start(operatorWithoutMetrics);
  await refused(stage, {}, /spec\.model: Required value/);
  await refused(stage, { model: 7 }, /spec\.model.*must be of type string/);
  await refused(stage, { model: "m", gpuCount: 17 }, /spec\.gpuCount.*less than or equal to 16/);
  await refused(stage, { model: "m", replicas: 0 }, /spec\.replicas.*greater than or equal to 1/);
  await refused(stage, { model: "m", sla: { maxLatency: "fast" } }, /spec\.sla\.maxLatency/);
  await refused(stage, { model: "m", sla: { maxLatency: "0s" } }, /must be more than 0/);
  await refused(stage, { model: "m", sla: {} }, /set at least one of maxLatency, timeToFirstToken/);
  await refused(stage, { model: "m", sla: { queueTime: "0s" } }, /spec\.sla\.queueTime.*must be more than 0/);
  await refused(stage, { model: "m", sla: { maxLatency: "1s", percentile: 100 } }, /spec\.sla\.percentile/);
  await refused(stage, { model: "m", scaling: { minReplicas: 5, maxReplicas: 2 } }, /must not exceed/);
  await refused(
    stage,
    { model: "m", cost: { perReplicaHour: 5, maxPerHour: 2 } },
    /is less than the cost of one replica/,
  );
  await refused(stage, { model: "m", scaling: { demandUrl: "http://x" } }, /must be set together/);
  await refused(stage, { model: "m", gpuCount: 0, gpuType: "H100" }, /gpuCount requests no GPUs/);
  await refused(stage, { model: "m", args: ["--port=1"] }, /--port is derived from other fields/);
  await refused(stage, { model: "m" }, /starting with a letter/, "3-models");
  const withCanary = (canary: object) => ({ model: "m", rollout: { canary } });
  await refused(stage, withCanary({ stepWeights: [50, 10] }), /each weight must be at least the one before/);
  await refused(stage, withCanary({ stepWeights: [0] }), /stepWeights\[0\].*greater than or equal to 1/);
  await refused(stage, withCanary({ interval: "0s" }), /spec\.rollout\.canary\.interval.*must be more than 0/);
  await refused(stage, withCanary({}), /at most 45 characters/, `a${"b".repeat(45)}`);
  const cost = { perReplicaHour: 2, maxPerHour: 3 };
  await refused(stage, { ...withCanary({}), cost }, /less than the cost of two replicas/);
};

const unknownGpuType: Scenario = async (stage) => {
  await stage.start(operatorWithoutMetrics);
  await stage.apply(deployment("chat", { model: "m", gpuType: "Z9000" }));
  await untilDegraded(stage, "chat", "UnknownGpuType");
  await stage.client.patch(ModelDeployment, `${stage.namespace}/chat`, { merge: { spec: { gpuType: "A100" } } });
  await untilDeployed(stage, "chat", 1);
};

const imageMissing: Scenario = async (stage) => {
  unpullable(stage, "registry.example/none:1");
  await stage.start(operatorWithoutMetrics);
  await stage.apply(deployment("chat", { model: "m", image: "registry.example/none:1" }));
  await untilDegraded(stage, "chat", "ImageCannotBePulled");
  await stage.client.patch(ModelDeployment, `${stage.namespace}/chat`, {
    merge: { spec: { image: "vllm/vllm-openai:v0.9" } },
  });
  await untilDeployed(stage, "chat", 1);
};

const noRoom: Scenario = async (stage) => {
  await stage.start(operatorWithoutMetrics);
  await stage.apply(deployment("chat", { model: "m", gpuCount: 16 }));
  await untilDegraded(stage, "chat", "NoRoom");
  await stage.client.patch(ModelDeployment, `${stage.namespace}/chat`, { merge: { spec: { gpuCount: 8 } } });
  await untilDeployed(stage, "chat", 1);
};

const missingClaim: Scenario = async (stage) => {
  await stage.start(operatorWithoutMetrics);
  await stage.apply(deployment("chat", { model: "m", modelPath: "pvc://weights/llama" }));
  await untilDegraded(stage, "chat", "ClaimMissing");
  await stage.client.create(PersistentVolumeClaim, {
    metadata: { name: "weights", namespace: stage.namespace },
    spec: { accessModes: ["ReadOnlyMany"], resources: { requests: { storage: "1Gi" } } },
  });
  await stage.until(
    "the claim is found",
    async () => (await stage.condition(ModelDeployment, "chat", "Degraded")) !== "True ClaimMissing",
  );
};

/** Nowhere to run at all, until a node comes. */
export const noNodes: Scenario = async (stage) => {
  await stage.start(operatorWithoutMetrics);
  await stage.apply(deployment("chat", { model: "m" }));
  await untilDegraded(stage, "chat", "NoRoom");
  await lateNode(stage);
  await untilDeployed(stage, "chat", 1);
};

/** An SLA that cannot be met: it is reported, and the size follows the load. */
const hopeless: Scenario = async (stage) => {
  await stage.start(operatorWithoutMetrics);
  const spec = {
    model: "m",
    sla: { maxLatency: "50ms" },
    capacity: { serviceTime: "200ms", concurrency: 1 },
    load: { requestsPerSecond: 9 },
  };
  await stage.apply(deployment("chat", spec));
  await untilDeployed(stage, "chat", 2);
  assert.equal(await stage.condition(ModelDeployment, "chat", "SLAMet"), "False ServiceTimeExceedsSLA");
  await stage.apply(deployment("chat", { ...spec, sla: { maxLatency: "1s" } }));
  await stage.until(
    "the SLA can be met again",
    async () => (await stage.condition(ModelDeployment, "chat", "SLAMet")) === "Unknown NotMeasured",
  );
};

/** Servers with malformed metrics are treated like servers without metrics. */
const nonsense: Scenario = async (stage) => {
  await stage.start(llmOperatorWith(async () => "<html>\u0000 vllm:request_success_total NaN\n{{{"));
  await stage.apply(deployment("chat", { model: "m", replicas: 2, sla: { maxLatency: "1s" } }));
  await untilDeployed(stage, "chat", 2);
  await stage.advance(stage.where === "embedded" ? 10 * 60_000 : 20_000);
  assert.equal((await stage.get(ModelDeployment, "chat")).status?.decisions?.length, 1);
};

/** Bad input, how it is reported, and how it is fixed. */
export const badDeployments: Record<string, Scenario> = {
  "wrong types, impossible sizes and fields that contradict each other are refused": schemaErrors,
  "a type of GPU that no node has": unknownGpuType,
  "more GPUs than a node has": noRoom,
  "a claim that is missing": missingClaim,
  "an image that cannot be pulled": imageMissing,
  "an SLA that cannot be met": hopeless,
  "servers with malformed metrics": nonsense,
};
