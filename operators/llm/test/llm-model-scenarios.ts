import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { LLMModel, llmOperator, ServiceMonitor } from "@konverge/llm-operator";
import { allowPrivileged, installForeignKind, type Scenario, type TestEnvironment } from "@konverge/operator-suite";
import { Deployment, Node, Pod, PodDisruptionBudget, Service } from "konverge/kinds";

/** A sample of this package. */
export function sample(name: string): string {
  return readFileSync(new URL(`../samples/${name}.yaml`, import.meta.url), "utf8");
}

/** An LLMModel with these fields. */
export function model(name: string, spec: object): object {
  return { apiVersion: "ai.example.com/v1", kind: "LLMModel", metadata: { name }, spec };
}

export async function untilReady(stage: TestEnvironment, name: string): Promise<void> {
  await stage.until(`${name} is ready`, async () => {
    const { metadata, status } = await stage.get(LLMModel, name);
    const isNew = status?.observedGeneration === metadata.generation;
    return isNew && (await stage.condition(LLMModel, name, "Ready")) === "True AsExpected";
  });
}

/** The condition has this reason, and an event says the same. */
export async function untilDegraded(stage: TestEnvironment, name: string, reason: string): Promise<void> {
  await stage.until(
    `${name} is degraded: ${reason}`,
    async () => (await stage.condition(LLMModel, name, "Degraded")) === `True ${reason}`,
  );
  assert.equal(await stage.condition(LLMModel, name, "Ready"), `False ${reason}`);
  await stage.until(`an event says ${reason}`, async () =>
    (await stage.events(LLMModel, name)).some((line) => line.startsWith(`Warning ${reason} `)),
  );
}

/** From its creation to its end: children appear, follow the spec, are reported, and go with the model. */
export const lives: Scenario = async (stage) => {
  await stage.start(llmOperator);
  await stage.apply(model("llama", { modelName: "llama-3-8b", replicas: 2, gpuCount: 1, gpuType: "H100" }));
  await untilReady(stage, "llama");
  const { status } = await stage.get(LLMModel, "llama");
  assert.equal(status?.readyReplicas, 2);
  assert.equal(status?.endpoint, `http://llmmodel-llama.${stage.namespace}.svc/v1`);
  assert.ok(await stage.find(Service, "llmmodel-llama"));
  assert.ok(await stage.find(PodDisruptionBudget, "llmmodel-llama"));

  await stage.client.scale(LLMModel, `${stage.namespace}/llama`, 3);
  await stage.until(
    "three replicas are ready",
    async () => (await stage.get(LLMModel, "llama")).status?.readyReplicas === 3,
  );
  assert.equal((await stage.get(Deployment, "llmmodel-llama")).spec?.replicas, 3);

  await stage.client.delete(LLMModel, `${stage.namespace}/llama`);
  await stage.until("all is gone with it", async () => {
    const left = [
      await stage.find(Deployment, "llmmodel-llama"),
      await stage.find(Service, "llmmodel-llama"),
      ...(await stage.list(Pod, "app=llmmodel")),
    ];
    return left.every((object) => object === undefined);
  });
};

/** The smallest scenario that covers everything that the operator does. */
export const converges: Scenario = async (stage) => {
  await stage.start(llmOperator);
  await stage.apply(model("llama", { replicas: 2, gpuType: "H100" }));
  await untilReady(stage, "llama");
  assert.equal((await stage.get(LLMModel, "llama")).spec.modelName, "llama", "the webhook fills in the name");
};

/**
 * The same with nodes, which an embedded cluster adds with the first pod. Without them the first replicas would request the
 * GPU type as written in the spec, and be replaced when a node reports its product.
 */
export const convergesOnNodes: Scenario = async (stage) => {
  const securityContext = { runAsNonRoot: true, runAsUser: 65535, seccompProfile: { type: "RuntimeDefault" } };
  const limits = { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } };
  const containers = [{ name: "pause", image: "registry.k8s.io/pause:3.10", securityContext: limits }];
  await stage.apply({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "first" },
    spec: { securityContext, containers },
  });
  await stage.until("nodes report their GPUs", async () => {
    const { items } = await stage.client.list(Node);
    return items.some(({ metadata }) => metadata.labels?.["nvidia.com/gpu.product"] !== undefined);
  });
  await converges(stage);
};

/** A model that cannot run, is fixed, and gets another image: a problem, its end, and a rollout. */
export const recovers: Scenario = async (stage) => {
  await stage.start(llmOperator);
  await stage.apply(model("llama", { replicas: 2, gpuType: "Z9000" }));
  await untilDegraded(stage, "llama", "UnknownGpuType");
  await stage.apply(model("llama", { replicas: 2, gpuType: "H100" }));
  await untilReady(stage, "llama");
  await stage.apply(model("llama", { replicas: 1, gpuType: "H100", image: "vllm/vllm-openai:v0.9" }));
  await untilReady(stage, "llama");
};

/** Another image comes in without a moment in which fewer replicas serve than are asked for. */
export const rollsWithoutDip: Scenario = async (stage) => {
  await stage.start(llmOperator);
  await stage.apply(model("llama", { replicas: 3 }));
  await untilReady(stage, "llama");
  await stage.apply(model("llama", { replicas: 3, image: "vllm/vllm-openai:v0.9" }));
  let fewest = Number.POSITIVE_INFINITY;
  await stage.until("all replicas run the new image", async () => {
    const pods = await stage.list(Pod, "app=llmmodel");
    const serving = pods.filter(({ metadata, status }) => {
      const ready = status?.conditions?.some((one) => one.type === "Ready" && one.status === "True");
      return ready && !metadata.deletionTimestamp;
    });
    fewest = Math.min(fewest, serving.length);
    return pods.length === 3 && pods.every(({ spec }) => spec?.containers[0]?.image === "vllm/vllm-openai:v0.9");
  });
  assert.equal(fewest, 3);
};

/** All GPUs are in use: a rollout finds no room for a spare replica, reports that, and replaces one replica after the other. */
export const rollsWithoutRoom: Scenario = async (stage) => {
  await stage.start(llmOperator);
  // The first pod brings the nodes of an embedded cluster.
  await stage.apply(model("llama", { gpuCount: 8 }));
  await untilReady(stage, "llama");
  const { items: nodes } = await stage.client.list(Node);
  const replicas = nodes.filter(({ status }) => Number(status?.allocatable?.["nvidia.com/gpu"] ?? 0) === 8).length;
  assert.ok(replicas > 1);
  const template = { metadata: { annotations: { "sim.konverge.dev/ready-delay": "45s" } } };
  await stage.apply(model("llama", { gpuCount: 8, replicas }));
  await untilReady(stage, "llama");
  await stage.apply(model("llama", { gpuCount: 8, replicas, image: "vllm/vllm-openai:v0.9", template }));
  await untilDegraded(stage, "llama", "NoRoom");
  const { status } = await stage.get(LLMModel, "llama");
  assert.equal(status?.readyReplicas, replicas, "none has ended yet");
  const degraded = status?.conditions?.find(({ type }) => type === "Degraded");
  assert.match(degraded?.message ?? "", /Insufficient nvidia\.com\/gpu.*the rollout replaces one replica at a time/);
  let fewest = Number.POSITIVE_INFINITY;
  await stage.until(
    "all replicas run the new image",
    async () => {
      const { status: now } = await stage.get(Deployment, "llmmodel-llama");
      fewest = Math.min(fewest, now?.readyReplicas ?? 0);
      return now?.updatedReplicas === replicas && now.readyReplicas === replicas && now.replicas === replicas;
    },
    3_600_000,
  );
  assert.equal(fewest, replicas - 1);
  await untilReady(stage, "llama");
  await stage.until("the next rollout begins with a spare replica", async () => {
    const { spec } = await stage.get(Deployment, "llmmodel-llama");
    return spec?.strategy?.rollingUpdate?.maxSurge === 1;
  });
};

/** Where the Prometheus Operator is installed, a ServiceMonitor is created. */
export const monitored: Scenario = async (stage) => {
  await installForeignKind(stage, ServiceMonitor);
  await stage.start(llmOperator);
  await stage.apply(model("llama", { replicas: 1 }));
  await untilReady(stage, "llama");
  await stage.until(
    "there is a ServiceMonitor",
    async () => (await stage.find(ServiceMonitor, "llmmodel-llama")) !== undefined,
  );
  const monitor = await stage.get(ServiceMonitor, "llmmodel-llama");
  const selector = monitor.spec.selector.matchLabels ?? {};
  const { metadata } = await stage.get(Service, "llmmodel-llama");
  for (const [name, value] of Object.entries(selector)) assert.equal(metadata.labels?.[name], value);
  assert.equal(monitor.metadata.ownerReferences?.[0]?.kind, "LLMModel");
};

/** What users delete or edit by hand is repaired. */
export const repairs: Scenario = async (stage) => {
  await stage.start(llmOperator);
  await stage.apply(model("llama", { replicas: 2 }));
  await untilReady(stage, "llama");
  const key = `${stage.namespace}/llmmodel-llama`;
  await stage.client.delete(Deployment, key);
  await stage.client.delete(Service, key);
  await stage.until("both are back", async () => {
    const made = await stage.find(Deployment, "llmmodel-llama");
    return (
      made?.metadata.deletionTimestamp === undefined && (await stage.find(Service, "llmmodel-llama")) !== undefined
    );
  });
  await untilReady(stage, "llama");
  await stage.client.patch(Deployment, key, { merge: { spec: { replicas: 5 } } });
  await stage.client.patch(Service, key, { json: [{ op: "replace", path: "/spec/ports/0/targetPort", value: 81 }] });
  await stage.until("both are as they should be", async () => {
    const { spec } = await stage.get(Deployment, "llmmodel-llama");
    return spec?.replicas === 2 && (await stage.get(Service, "llmmodel-llama")).spec?.ports?.[0]?.targetPort === "http";
  });
};

/** The samples converge, as they are. */
export const samplesConverge: Scenario = async (stage) => {
  // One of them has its model in a folder of the node, which PodSecurity refuses elsewhere.
  await allowPrivileged(stage);
  await stage.start(llmOperator);
  await stage.apply(sample("llm-model"));
  await stage.apply(sample("llm-model-full"));
  await untilReady(stage, "mistral-7b");
  await untilReady(stage, "llama-3-70b");
};

/** Nothing is written when nothing changes, even after a restart of the operator. */
export const restsWhenDone: Scenario = async (stage) => {
  const running = await stage.start(llmOperator);
  await stage.apply(model("llama", { replicas: 2 }));
  await untilReady(stage, "llama");
  await stage.settled();
  const before = stage.writes();
  running.crash();
  await running.restart();
  await stage.settled();
  assert.equal(stage.writes(), before);
};
