import assert from "node:assert/strict";
import {
  DynamoComponent,
  DynamoComponentDeployment,
  DynamoGraphDeployment,
  dynamoOperator,
} from "@konverge/dynamo-operator";
import {
  allowPrivileged,
  isReported,
  lateNode,
  quotaOfPods,
  type Scenario,
  supplyVolumes,
  type TestEnvironment,
  unpullable,
} from "@konverge/operator-suite";
import { Job, PersistentVolumeClaim } from "konverge/kinds";
import { sample } from "./scenarios.ts";

const successful = (stage: TestEnvironment) =>
  stage.until("the graph is successful", async () => {
    return (await stage.find(DynamoGraphDeployment, "chat"))?.status?.state === "successful";
  });

/** The worker says it in an event, the graph in its condition. */
async function told(stage: TestEnvironment, reason: string, words: RegExp, problem: string): Promise<void> {
  await isReported(stage, DynamoComponentDeployment, "chat-vllmworker", {
    condition: new RegExp(`^Available False ${reason} .*${words.source}`),
    event: new RegExp(`^Warning ${problem} .*${words.source}`),
  });
  await isReported(stage, DynamoGraphDeployment, "chat", {
    condition: new RegExp(`^Ready False \\S+ .*VllmWorker: .*${words.source}`),
    event: /^Warning ServiceNotReady VllmWorker: /,
  });
}

/** What each service of the graph says, with a worker as given. */
const withWorker = (fields: string) => sample("graph").replace("replicas: 2", `replicas: 2\n      ${fields}`);

const claimMissing: Scenario = async (stage) => {
  await supplyVolumes(stage, "1Gi");
  await stage.start(dynamoOperator);
  await stage.apply(sample("graph").replace("name: chat-models", "name: nowhere\n        create: false"));
  await told(stage, "insufficient_capacity", /no PersistentVolumeClaim nowhere/, "ClaimMissing");
  await stage.client.create(PersistentVolumeClaim, {
    metadata: { name: "nowhere", namespace: stage.namespace },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  });
  await successful(stage);
};

const unknownGpuType: Scenario = async (stage) => {
  await supplyVolumes(stage, "20Gi");
  await stage.start(dynamoOperator);
  await stage.apply(withWorker("extraPodSpec:\n        nodeSelector:\n          nvidia.com/gpu.product: Z9000"));
  await told(stage, "insufficient_capacity", /didn't match Pod's node affinity/, "NoRoom");
  await stage.apply(
    withWorker("extraPodSpec:\n        nodeSelector:\n          nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3"),
  );
  await successful(stage);
};

const tooLarge: Scenario = async (stage) => {
  await supplyVolumes(stage, "20Gi");
  await stage.start(dynamoOperator);
  await stage.apply(sample("graph").replace('gpu: "1"', 'gpu: "64"'));
  await told(stage, "insufficient_capacity", /Insufficient nvidia.com\/gpu/, "NoRoom");
  await stage.apply(sample("graph"));
  await successful(stage);
};

const imageMissing: Scenario = async (stage) => {
  await supplyVolumes(stage, "20Gi");
  unpullable(stage, "registry.example/none:1");
  await stage.start(dynamoOperator);
  const withImage = (image: string) => withWorker(`extraPodSpec:\n        mainContainer:\n          image: ${image}`);
  await stage.apply(withImage("registry.example/none:1"));
  await told(stage, "(pods_not_ready|failed)", /registry.example\/none:1 cannot be pulled/, "ImageCannotBePulled");
  await stage.apply(withImage("registry.example/some:1"));
  await successful(stage);
};

const quotaExceeded: Scenario = async (stage) => {
  await supplyVolumes(stage, "20Gi");
  // Whichever service is quicker, the two workers do not both find room.
  const lift = await quotaOfPods(stage, 1);
  await stage.start(dynamoOperator);
  await stage.apply(sample("graph"));
  await told(stage, "(pods_not_ready|failed|updating)", /exceeded quota/, "QuotaExceeded");
  await lift();
  await successful(stage);
};

const noNodes: Scenario = async (stage) => {
  await supplyVolumes(stage, "20Gi");
  await stage.start(dynamoOperator);
  await stage.apply(sample("graph"));
  await told(stage, "insufficient_capacity", /no nodes available/, "NoRoom");
  await lateNode(stage);
  await successful(stage);
};

/** An image that is built by nobody: its builder cannot be pulled. Another builder builds it. */
const builderMissing: Scenario = async (stage) => {
  await allowPrivileged(stage);
  unpullable(stage, "registry.example/builder:1");
  const running = await stage.start(dynamoOperator, { settings: { builderImage: "registry.example/builder:1" } });
  await stage.apply(sample("component"));
  const [image] = await stage.list(DynamoComponent);
  await isReported(stage, DynamoComponent, image!.metadata.name, {
    condition: /^ImageBuilt Unknown Building .*registry.example\/builder:1 cannot be pulled/,
    event: /^Warning ImageCannotBePulled /,
  });
  await running.stop();
  await stage.start(dynamoOperator);
  await built(stage);
};

/** An operator with another builder leaves the images alone that are there. */
const builtOnce: Scenario = async (stage) => {
  await allowPrivileged(stage);
  const running = await stage.start(dynamoOperator);
  await stage.apply(sample("component"));
  await built(stage);
  const { metadata } = await stage.get(Job, "chat-frontend-build");
  await running.stop();
  await stage.start(dynamoOperator, {
    settings: { builderImage: "registry.example/other:1", builderCommand: "build it" },
  });
  await stage.client.patch(DynamoComponent, `${stage.namespace}/chat-frontend`, {
    merge: { spec: { pushSecret: "other" } },
  });
  await stage.settled();
  await built(stage);
  assert.equal((await stage.get(Job, "chat-frontend-build")).metadata.uid, metadata.uid);
  assert.equal(await stage.condition(DynamoComponent, "chat-frontend", "Ready"), "True Built");
};

/** A build for whose pod there is no room in the namespace. */
export const buildQuota: Scenario = async (stage) => {
  await allowPrivileged(stage);
  const lift = await quotaOfPods(stage, 0);
  await stage.start(dynamoOperator);
  await stage.apply(sample("component"));
  await isReported(stage, DynamoComponent, "chat-frontend", {
    condition: /^ImageBuilt Unknown Building .*exceeded quota/,
    event: /^Warning QuotaExceeded /,
  });
  await lift();
  await built(stage);
};

/** Components and images that somebody writes by hand are checked as those of graphs are. */
const byHand: Scenario = async (stage) => {
  await stage.start(dynamoOperator);
  const refused = (kind: string, spec: object, message: RegExp) =>
    assert.rejects(
      stage.apply({ apiVersion: "nvidia.com/v1alpha1", kind, metadata: { name: "alone" }, spec }),
      message,
    );
  const deployment = (spec: object, message: RegExp) => refused("DynamoComponentDeployment", spec, message);
  await deployment({ replicas: "two" }, /replicas/);
  await deployment({ replicas: 100_000 }, /spec\.replicas.*less than or equal to 1000/);
  await deployment({ componentType: "router" }, /spec\.componentType: Unsupported value/);
  await deployment({ resources: { limits: { gpu: "many" } } }, /gpu/);
  await deployment({ autoscaling: { minReplicas: 3, maxReplicas: 2 } }, /minReplicas: Invalid value: 3: is more than/);
  await deployment({ multinode: { nodeCount: 2 }, autoscaling: { maxReplicas: 2 } }, /combined with multinode/);
  await deployment({ pvc: { create: false } }, /spec\.pvc\.name: Required value/);
  const image = (spec: object, message: RegExp) => refused("DynamoComponent", spec, message);
  await image({ destination: "registry.example/i:1" }, /spec\.context: Required value/);
  await image({ context: 7, destination: "registry.example/i:1" }, /spec\.context/);
  await image({ context: "", destination: "registry.example/i:1" }, /spec\.context/);

  const alone = (replicas: number, gpu: string) => ({
    apiVersion: "nvidia.com/v1alpha1",
    kind: "DynamoComponentDeployment",
    metadata: { name: "alone" },
    spec: { componentType: "frontend", replicas, resources: { limits: { gpu } } },
  });
  await stage.apply(alone(1, "64"));
  await isReported(stage, DynamoComponentDeployment, "alone", {
    condition: /^Available False insufficient_capacity .*Insufficient nvidia.com\/gpu/,
    event: /^Warning NoRoom .*Insufficient nvidia.com\/gpu/,
  });
  await stage.apply(alone(1, "1"));
  await stage.until(
    "it is available",
    async () => (await stage.condition(DynamoComponentDeployment, "alone", "Available")) === "True DeploymentReady",
  );
};

const built = (stage: TestEnvironment) =>
  stage.until("the image is built, and nothing is wrong any more", async () => {
    const is = (type: string) => stage.condition(DynamoComponent, "chat-frontend", type);
    return (await is("ImageBuilt")) === "True Built" && !(await is("Degraded"))?.startsWith("True");
  });

/** Bad input, how it is reported, and how it is fixed. */
export const badGraphs: Record<string, Scenario> = {
  "a graph with a claim that is missing": claimMissing,
  "a graph with a type of GPU that no node has": unknownGpuType,
  "a graph with more GPUs than a node has": tooLarge,
  "a graph with an image that cannot be pulled": imageMissing,
  "a graph with a quota that is exceeded": quotaExceeded,
  "an image whose builder cannot be pulled": builderMissing,
  "an image that is there, and another builder": builtOnce,
  "components and images that somebody writes by hand": byHand,
};
export const withoutNodes: Scenario = noNodes;
