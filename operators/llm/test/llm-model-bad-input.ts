import assert from "node:assert/strict";
import { LLMModel, llmOperator } from "@konverge/llm-operator";
import {
  attachVolumes,
  lateNode,
  type Scenario,
  supplyVolumes,
  type TestEnvironment,
  unpullable,
} from "@konverge/operator-suite";
import { isInvalid } from "konverge";
import { ConfigMap, Deployment, PersistentVolumeClaim, Pod, ResourceQuota } from "konverge/kinds";
import { model, untilDegraded, untilReady } from "./llm-model-scenarios.ts";

/** Refused by the API server, in words that match. */
async function refused(stage: TestEnvironment, spec: object, words: RegExp): Promise<void> {
  const bad = { metadata: { name: "bad", namespace: stage.namespace }, spec };
  await assert.rejects(stage.client.create(LLMModel, bad as never), (error: Error) => {
    assert.ok(isInvalid(error), String(error));
    assert.match(error.message, words);
    return true;
  });
}

/** Nothing goes on writing while a problem lasts. */
async function rests(stage: TestEnvironment): Promise<void> {
  await stage.advance(stage.where === "embedded" ? 5 * 60_000 : 3_000);
  const before = stage.writes();
  await stage.advance(stage.where === "embedded" ? 5 * 60_000 : 5_000);
  assert.ok(stage.writes() - before <= 2, `${stage.writes() - before} writes, though nothing changed`);
}

const schemaErrors: Scenario = async (stage) => {
  await stage.start(llmOperator);
  await refused(stage, { replicas: "three" }, /spec\.replicas.*must be of type integer/);
  await refused(stage, { replicas: -1 }, /spec\.replicas.*greater than or equal to 0/);
  await refused(stage, { replicas: 100_000 }, /spec\.replicas.*less than or equal to 1000/);
  await refused(stage, { gpuCount: 17 }, /spec\.gpuCount.*less than or equal to 16/);
  await refused(stage, { gpuCount: 0, gpuType: "H100" }, /gpuCount requests no GPUs/);
  await refused(stage, { modelPath: "models/llama" }, /spec\.modelPath/);
  await refused(stage, { sharedMemory: "plenty" }, /spec\.sharedMemory/);
  await refused(stage, { startupTimeout: "soon" }, /spec\.startupTimeout/);
  await refused(
    stage,
    { args: ["--model", "other"] },
    /spec\.args\[0\]: Forbidden: --model is derived from other fields/,
  );
  for (const arg of ["-tp", "--tensor_parallel_size=4", "--data-parallel-size"])
    await refused(stage, { args: [arg, "4"] }, /spec\.args\[0\]: Forbidden: --(tensor|data)-parallel-size is derived/);
  await refused(stage, { args: ["other"] }, /spec\.args\[0\].*must be a flag/);
  await refused(stage, { gpuCount: 8, parallelism: { tensor: 8, data: 8 } }, /must be gpuCount/);
  await refused(stage, { env: [{ name: "MODEL_NAME", value: "x" }] }, /spec\.env\[0\]: Forbidden/);
  await refused(stage, { modelPath: "/models/../etc" }, /must not contain/);
  await refused(stage, { source: {} }, /exactly one of huggingFace, claim, s3 and image must be set/);
  await refused(
    stage,
    { source: { claim: { name: "w", path: "a/../../b" } } },
    /spec\.source\.claim\.path.*must not contain/,
  );
  const huggingFace = { repo: "org/llama", revision: "v2", tokenSecret: { name: "hub" } };
  await refused(
    stage,
    { source: { huggingFace }, args: ["--revision=main"] },
    /--revision is derived from other fields/,
  );
  await refused(
    stage,
    { source: { huggingFace }, env: [{ name: "HF_TOKEN", value: "x" }] },
    /spec\.env\[0\]: Forbidden/,
  );
  const adapters = [{ name: "sql", source: { claim: { name: "w" } } }];
  await refused(stage, { lora: { adapters: [] } }, /spec\.lora\.adapters.*at least 1 items/);
  await refused(stage, { lora: { adapters: [...adapters, ...adapters] } }, /Duplicate value/);
  await refused(stage, { lora: { adapters, maxRank: 12 } }, /spec\.lora\.maxRank.*[Uu]nsupported value/);
  await refused(stage, { lora: { adapters, maxLoras: 4, maxCpuLoras: 2 } }, /must be at least maxLoras, which is 4/);
  await refused(stage, { lora: { adapters }, modelName: "sql" }, /is the name of the model itself/);
  await refused(stage, { lora: { adapters }, args: ["--max-loras", "2"] }, /--max-loras is derived from other fields/);
  assert.deepEqual(await stage.list(LLMModel), []);
};

const unknownGpuType: Scenario = async (stage) => {
  await stage.start(llmOperator);
  await stage.apply(model("llama", { gpuType: "Z9000" }));
  await untilDegraded(stage, "llama", "UnknownGpuType");
  await rests(stage);
  await stage.client.patch(LLMModel, `${stage.namespace}/llama`, { merge: { spec: { gpuType: "A100" } } });
  await untilReady(stage, "llama");
};

const noRoom: Scenario = async (stage) => {
  await stage.start(llmOperator);
  await stage.apply(model("llama", { gpuCount: 16 }));
  await untilDegraded(stage, "llama", "NoRoom");
  await rests(stage);
  await stage.client.patch(LLMModel, `${stage.namespace}/llama`, { merge: { spec: { gpuCount: 8 } } });
  await untilReady(stage, "llama");
};

const missingClaim: Scenario = async (stage) => {
  await stage.start(llmOperator);
  await stage.apply(model("llama", { modelPath: "pvc://weights/llama" }));
  await untilDegraded(stage, "llama", "ClaimMissing");
  await rests(stage);
  await stage.client.create(PersistentVolumeClaim, {
    metadata: { name: "weights", namespace: stage.namespace },
    spec: { accessModes: ["ReadOnlyMany"], resources: { requests: { storage: "1Gi" } } },
  });
  await stage.until(
    "it waits for the volume, not for the claim",
    async () => (await stage.condition(LLMModel, "llama", "Degraded")) !== "True ClaimMissing",
  );
};

/** A volume that can be on one node alone is not shared by replicas, which run on several. */
const unsharedCache: Scenario = async (stage) => {
  await attachVolumes(stage);
  await supplyVolumes(stage, "1Gi");
  await stage.start(llmOperator);
  await stage.client.create(PersistentVolumeClaim, {
    metadata: { name: "cache", namespace: stage.namespace },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  });
  await stage.apply(model("llama", { replicas: 2, cacheClaim: "cache" }));
  await stage.until(
    "it is refused",
    async () => (await stage.condition(LLMModel, "llama", "Ready")) === "False ClaimNotShareable",
  );
  assert.equal(await stage.find(Deployment, "llmmodel-llama"), undefined);
  await stage.apply(model("llama", { replicas: 1, cacheClaim: "cache" }));
  await untilReady(stage, "llama");
  // The new replica of a rollout starts beside the old one.
  await stage.apply(model("llama", { replicas: 1, cacheClaim: "cache", args: ["--seed=1"] }));
  await stage.settled();
  await untilReady(stage, "llama");
};

const quotaExceeded: Scenario = async (stage) => {
  await stage.start(llmOperator);
  await stage.client.create(ResourceQuota, {
    metadata: { name: "small", namespace: stage.namespace },
    spec: { hard: { pods: "1" } },
  });
  await stage.until(
    "the quota is in force",
    async () => (await stage.get(ResourceQuota, "small")).status?.hard?.["pods"] === "1",
  );
  await stage.apply(model("llama", { replicas: 3 }));
  await untilDegraded(stage, "llama", "QuotaExceeded");
  await rests(stage);
  await stage.client.delete(ResourceQuota, `${stage.namespace}/small`);
  // The ReplicaSet controller retries with exponential backoff; a change triggers a retry at once.
  await stage.client.patch(LLMModel, `${stage.namespace}/llama`, { merge: { spec: { replicas: 2 } } });
  await untilReady(stage, "llama");
};

const imageMissing: Scenario = async (stage) => {
  unpullable(stage, "registry.example/none:1");
  await stage.start(llmOperator);
  await stage.apply(model("llama", { image: "registry.example/none:1" }));
  await untilDegraded(stage, "llama", "ImageCannotBePulled");
  await rests(stage);
  await stage.client.patch(LLMModel, `${stage.namespace}/llama`, {
    merge: { spec: { image: "vllm/vllm-openai:v0.9" } },
  });
  await untilReady(stage, "llama");
};

/** Nowhere to run at all, until a node comes. */
export const noNodes: Scenario = async (stage) => {
  await stage.start(llmOperator);
  await stage.apply(model("llama", {}));
  await untilDegraded(stage, "llama", "NoRoom");
  await rests(stage);
  await lateNode(stage);
  await untilReady(stage, "llama");
};

const foreignDeployment: Scenario = async (stage) => {
  await stage.start(llmOperator);
  const labels = { app: "other" };
  await stage.client.create(Deployment, {
    metadata: { name: "llmmodel-llama", namespace: stage.namespace },
    spec: {
      replicas: 0,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "x", image: "x" }] } },
    },
  });
  await stage.apply(model("llama", {}));
  await stage.until(
    "the conditions say whose it is",
    async () => (await stage.condition(LLMModel, "llama", "Ready")) === "False ChildExists",
  );
  assert.equal((await stage.get(Deployment, "llmmodel-llama")).spec?.replicas, 0, "it is not touched");
  await stage.client.delete(Deployment, `${stage.namespace}/llmmodel-llama`);
  await untilReady(stage, "llama");
};

/** Objects that were created before the operator and its webhooks. */
const writtenBefore: Scenario = async (stage) => {
  await stage.install(llmOperator);
  await stage.apply(model("llama", { env: [{ name: "MODEL_NAME", value: "wrong" }] }));
  await stage.apply({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "unrelated" }, data: {} });
  await stage.start(llmOperator);
  await untilReady(stage, "llama");
  const { spec } = await stage.get(Deployment, "llmmodel-llama");
  const names = spec?.template.spec?.containers[0]?.env?.filter(({ name }) => name === "MODEL_NAME");
  assert.deepEqual(names, [{ name: "MODEL_NAME", value: "llama" }]);
  assert.ok(await stage.find(ConfigMap, "unrelated"));
};

/** A server that takes minutes to fail runs between its failures, and its problem stays reported all the time. */
export const crashesSlowly: Scenario = async (stage) => {
  await stage.start(llmOperator);
  const annotations = {
    "sim.konverge.dev/ready-delay": "10m",
    "sim.konverge.dev/crash-after": "3m",
    "sim.konverge.dev/logs": "ValueError: no memory for the KV cache",
  };
  await stage.apply(model("llama", { template: { metadata: { annotations } } }));
  await untilDegraded(stage, "llama", "ContainerCrashes");
  for (let minute = 0; minute < 20; minute++) {
    await stage.advance(60_000);
    assert.equal(await stage.condition(LLMModel, "llama", "Degraded"), "True ContainerCrashes", `minute ${minute}`);
  }
  const { status } = await stage.get(LLMModel, "llama");
  const degraded = status?.conditions?.find(({ type }) => type === "Degraded");
  assert.match(degraded?.message ?? "", /exits with code 1: .*no memory for the KV cache/);
};

/** A server that gets ready and fails under its requests is Ready between its failures, and Degraded all the time. */
export const crashesWhenReady: Scenario = async (stage) => {
  await stage.start(llmOperator);
  const annotations = { "sim.konverge.dev/ready-delay": "5s", "sim.konverge.dev/crash-after": "7m" };
  await stage.apply(model("llama", { template: { metadata: { annotations } } }));
  await untilReady(stage, "llama");
  const ready = () => stage.condition(LLMModel, "llama", "Ready");
  const degraded = () => stage.condition(LLMModel, "llama", "Degraded");
  await stage.until(
    "it has failed twice",
    async () => {
      const [pod] = await stage.list(Pod, "app=llmmodel");
      return pod?.status?.containerStatuses?.[0]?.restartCount === 2;
    },
    1_200_000,
  );
  await stage.until("it is ready again", async () => (await ready()) === "True AsExpected");
  await stage.advance(60_000);
  assert.equal(await degraded(), "True ContainerCrashes");
  assert.equal(await ready(), "True AsExpected");
  const fixed = { metadata: { annotations: { "sim.konverge.dev/crash-after": null } } };
  const [pod] = await stage.list(Pod, "app=llmmodel");
  await stage.client.patch(Pod, `${stage.namespace}/${pod!.metadata.name}`, { merge: fixed } as never);
  await stage.until("it is forgiven", async () => (await degraded()) === "False AsExpected", 1_200_000);
};

/** Bad input, how it is reported, and how it is fixed. */
export const badInput: Record<string, Scenario> = {
  "wrong types, impossible sizes and fields that contradict each other are refused": schemaErrors,
  "a type of GPU that no node has": unknownGpuType,
  "more GPUs than a node has": noRoom,
  "a claim that is missing": missingClaim,
  "a cache that replicas cannot share": unsharedCache,
  "a quota that is exceeded": quotaExceeded,
  "an image that cannot be pulled": imageMissing,
  "a Deployment of that name with another owner": foreignDeployment,
  "objects that were written before the operator came": writtenBefore,
};
