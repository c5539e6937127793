import assert from "node:assert/strict";
import { llmOperatorWith, ModelDeployment, WAKE } from "@konverge/llm-operator";
import { isReported, type Scenario, type TestEnvironment } from "@konverge/operator-suite";
import type { AnyObject } from "konverge";
import { ConfigMap, HorizontalPodAutoscaler, Pod, ResourceQuota, Service, StatefulSet } from "konverge/kinds";
import { sample } from "./llm-model-scenarios.ts";

/** The operator, in a network in which no server returns metrics. */
export const operatorWithoutMetrics = llmOperatorWith(async () => {
  throw new Error("no server returns metrics");
});

/** A ModelDeployment with these fields. */
export function deployment(name: string, spec: object): object {
  return { apiVersion: "ai.example.com/v1", kind: "ModelDeployment", metadata: { name }, spec };
}

export async function untilDeployed(stage: TestEnvironment, name: string, replicas: number): Promise<void> {
  await stage.until(`${name} has ${replicas} replicas, all ready`, async () => {
    const { status } = await stage.get(ModelDeployment, name);
    const ready = await stage.condition(ModelDeployment, name, "Ready");
    return status?.readyReplicas === replicas && status.replicas === replicas && ready === "True AsExpected";
  });
}

/** The least that takes all that the operator does for a ModelDeployment. */
export const isDeployed: Scenario = async (stage) => {
  await stage.start(operatorWithoutMetrics);
  await stage.apply(deployment("chat", { model: "m", replicas: 2 }));
  await untilDeployed(stage, "chat", 2);
};

/** A declared load that grows, another image, and the end. */
export const resized: Scenario = async (stage) => {
  await stage.start(operatorWithoutMetrics);
  const spec = {
    model: "m",
    sla: { maxLatency: "300ms" },
    capacity: { serviceTime: "200ms", concurrency: 4 },
    load: { requestsPerSecond: 10 },
  };
  await stage.apply(deployment("chat", spec));
  await untilDeployed(stage, "chat", 2);
  await stage.apply(deployment("chat", { ...spec, load: { requestsPerSecond: 50 }, image: "vllm/vllm-openai:v0.9" }));
  await untilDeployed(stage, "chat", 4);
  await stage.client.delete(ModelDeployment, `${stage.namespace}/chat`);
  await stage.until("all is gone with it", async () => (await stage.list(Pod, "app=modeldeployment")).length === 0);
};

/** Within its bounds the size is what the autoscaler or another client requests: nothing to repair. Earlier sizes are history. */
export function withoutSize(object: AnyObject): AnyObject {
  if (object.kind !== "StatefulSet" && object.kind !== "ModelDeployment") return object;
  const { replicas: _, ...spec } = object["spec"] as Record<string, unknown>;
  const {
    replicas: __,
    readyReplicas: ___,
    decisions: ____,
    ...status
  } = (object["status"] ?? {}) as Record<string, unknown>;
  return { ...object, spec, status };
}

/** All children appear, pods have names that stay, and all goes with the object. */
export const deploys: Scenario = async (stage) => {
  await stage.start(operatorWithoutMetrics);
  await stage.apply(deployment("llama-3-70b", { model: "llama-3-70b", replicas: 4, sla: { maxLatency: "100ms" } }));
  await untilDeployed(stage, "llama-3-70b", 4);
  const names = (await stage.list(Pod, "app=modeldeployment")).map(({ metadata }) => metadata.name).sort();
  assert.deepEqual(
    names,
    [0, 1, 2, 3].map((i) => `llama-3-70b-${i}`),
  );
  for (const kind of [StatefulSet, Service, HorizontalPodAutoscaler, ConfigMap] as const) {
    assert.ok(await stage.find(kind as typeof Service, "llama-3-70b"), `there is a ${kind.kind}`);
  }
  const { data } = await stage.get(ConfigMap, "llama-3-70b");
  assert.match(data?.["config.yaml"] ?? "", /served-model-name: llama-3-70b/);
  const { status } = await stage.get(ModelDeployment, "llama-3-70b");
  assert.deepEqual(
    status?.decisions?.map(({ from, to, reason }) => [from, to, reason]),
    [[0, 4, "NothingMeasured"]],
  );
  assert.equal(await stage.condition(ModelDeployment, "llama-3-70b", "SLAMet"), "Unknown NotMeasured");
  await stage.client.delete(ModelDeployment, `${stage.namespace}/llama-3-70b`);
  await stage.until("all is gone with it", async () => (await stage.list(Pod, "app=modeldeployment")).length === 0);
};

/** A declared load gives the first size, and the autoscaler's bounds; afterwards the size is the autoscaler's. */
export const sizedByDeclaration: Scenario = async (stage) => {
  await stage.start(operatorWithoutMetrics);
  const spec = {
    model: "m",
    sla: { maxLatency: "300ms" },
    capacity: { serviceTime: "200ms", concurrency: 4 },
    load: { requestsPerSecond: 50 },
  };
  await stage.apply(deployment("chat", spec));
  // 50 requests/s of 200 ms keep ten slots busy on average; 3 replicas of four slots would be too slow now and then.
  await untilDeployed(stage, "chat", 4);
  const autoscaler = async () => (await stage.get(HorizontalPodAutoscaler, "chat")).spec;
  assert.deepEqual([(await autoscaler())?.minReplicas, (await autoscaler())?.maxReplicas], [4, 6]);
  await stage.client.scale(StatefulSet, `${stage.namespace}/chat`, 5);
  await stage.until("the size that somebody chose within the bounds stays", async () => {
    await stage.settled();
    return (await stage.get(StatefulSet, "chat")).spec?.replicas === 5;
  });
  await stage.apply(deployment("chat", { ...spec, load: { requestsPerSecond: 100 } }));
  await untilDeployed(stage, "chat", 6);
};

/** Costs are capped, and the cap is reported. */
export const cappedByCost: Scenario = async (stage) => {
  await stage.start(operatorWithoutMetrics);
  const spec = {
    model: "m",
    sla: { maxLatency: "300ms" },
    capacity: { serviceTime: "200ms", concurrency: 1 },
    load: { requestsPerSecond: 50 },
    cost: { perReplicaHour: 2.5, maxPerHour: 8 },
  };
  await stage.apply(deployment("chat", spec));
  await untilDeployed(stage, "chat", 3);
  const { status } = await stage.get(ModelDeployment, "chat");
  assert.equal(status?.decisions?.[0]?.reason, "CostCap");
  assert.equal(status?.costPerHour, 7.5);
  assert.deepEqual((await stage.get(HorizontalPodAutoscaler, "chat")).spec?.maxReplicas, 3);
};

/** A model is scaled to zero without requests, and woken by the next one. */
export function sleeps(operatorWith: typeof llmOperatorWith): Scenario {
  return async (stage) => {
    let pending = 0;
    const running = operatorWith(async (url) =>
      url.startsWith("http://gateway") ? `vllm:num_requests_waiting ${pending}` : "vllm:request_success_total 0",
    );
    await stage.start(running);
    const minutes = stage.where === "embedded" ? 2 : 0.25;
    const scaling = { toZeroAfter: `${minutes * 60}s`, demandUrl: "http://gateway.test/metrics" };
    await stage.apply(deployment("chat", { model: "m", replicas: 1, scaling }));
    await untilDeployed(stage, "chat", 1);
    await stage.until("it sleeps", async () => (await stage.get(StatefulSet, "chat")).spec?.replicas === 0);
    await untilDeployed(stage, "chat", 0);
    await stage.advance(minutes * 60_000);
    assert.equal((await stage.get(StatefulSet, "chat")).spec?.replicas, 0, "it stays at zero without requests");
    pending = 3;
    await untilDeployed(stage, "chat", 1);
    pending = 0;
    await stage.until("it sleeps again", async () => (await stage.get(StatefulSet, "chat")).spec?.replicas === 0);
    const wake = new Date(stage.clock.now() + 1_000).toISOString();
    await stage.client.patch(ModelDeployment, `${stage.namespace}/chat`, {
      merge: { metadata: { annotations: { [WAKE]: wake } } },
    });
    await untilDeployed(stage, "chat", 1);
    const reasons = (await stage.get(ModelDeployment, "chat")).status?.decisions?.map(({ reason }) => reason);
    assert.deepEqual(reasons, ["NothingMeasured", "Idle", "Woken", "Idle", "Woken"]);
  };
}

/** A quota rejects pods: it is reported, although a StatefulSet does so only in events. */
export const deploymentQuota: Scenario = async (stage) => {
  await stage.start(operatorWithoutMetrics);
  await stage.client.create(ResourceQuota, {
    metadata: { name: "small", namespace: stage.namespace },
    spec: { hard: { pods: "1" } },
  });
  await stage.until(
    "the quota is in force",
    async () => (await stage.get(ResourceQuota, "small")).status?.hard?.["pods"] === "1",
  );
  await stage.apply(deployment("chat", { model: "m", replicas: 2 }));
  await isReported(stage, ModelDeployment, "chat", {
    condition: /^Ready False QuotaExceeded .*exceeded quota/,
    event: /^Warning QuotaExceeded .*exceeded quota/,
  });
  await stage.client.delete(ResourceQuota, `${stage.namespace}/small`);
  await untilDeployed(stage, "chat", 2);
};

/** The samples converge, as they are. */
export const deploymentSamplesConverge: Scenario = async (stage) => {
  await stage.start(operatorWithoutMetrics);
  await stage.apply(sample("model-deployment"));
  await stage.apply(sample("model-deployment-full"));
  for (const name of ["gemma-2b", "llama-3-8b"]) {
    await stage.until(
      `${name} is ready`,
      async () => (await stage.condition(ModelDeployment, name, "Ready")) === "True AsExpected",
    );
  }
};
