import {
  DynamoComponent,
  DynamoComponentDeployment,
  DynamoGraphDeployment,
  dynamoOperator,
} from "@konverge/dynamo-operator";
import {
  isReported,
  lateNode,
  quotaOfPods,
  type Scenario,
  type Stage,
  supplyVolumes,
  unpullable,
} from "@konverge/operator-suite";
import { PersistentVolumeClaim } from "konverge/kinds";
import { sample } from "./scenarios.ts";

const successful = (stage: Stage) =>
  stage.until("the graph is successful", async () => {
    return (await stage.find(DynamoGraphDeployment, "chat"))?.status?.state === "successful";
  });

/** The worker says it in an event, the graph in its condition. */
async function told(stage: Stage, reason: string, words: RegExp, problem: string): Promise<void> {
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
  await stage.apply(withWorker("extraPodSpec:\n        nodeSelector:\n          nvidia.com/gpu.product: H100"));
  await successful(stage);
};

const tooLarge: Scenario = async (stage) => {
  await stage.start(dynamoOperator);
  await stage.apply(sample("graph").replace('gpu: "1"', 'gpu: "64"'));
  await told(stage, "insufficient_capacity", /Insufficient nvidia.com\/gpu/, "NoRoom");
  await stage.apply(sample("graph"));
  await successful(stage);
};

const imageMissing: Scenario = async (stage) => {
  unpullable(stage, "registry.example/none");
  await stage.start(dynamoOperator);
  const withImage = (image: string) => withWorker(`extraPodSpec:\n        mainContainer:\n          image: ${image}`);
  await stage.apply(withImage("registry.example/none:1"));
  await told(stage, "(pods_not_ready|failed)", /registry.example\/none:1 cannot be pulled/, "ImageCannotBePulled");
  await stage.apply(withImage("registry.example/some:1"));
  await successful(stage);
};

const quotaExceeded: Scenario = async (stage) => {
  await supplyVolumes(stage, "20Gi");
  const lift = await quotaOfPods(stage, 2);
  await stage.start(dynamoOperator);
  await stage.apply(sample("graph"));
  await told(stage, "(pods_not_ready|failed|updating)", /exceeded quota/, "QuotaExceeded");
  await lift();
  await successful(stage);
};

const noNodes: Scenario = async (stage) => {
  await stage.start(dynamoOperator);
  await stage.apply(sample("graph"));
  await told(stage, "insufficient_capacity", /no nodes available/, "NoRoom");
  await lateNode(stage);
  await successful(stage);
};

/** An image that cannot be built: its builder cannot be pulled. */
const builderMissing: Scenario = async (stage) => {
  unpullable(stage, "registry.example/builder");
  await stage.start(dynamoOperator, { settings: { builderImage: "registry.example/builder:1" } });
  await stage.apply(sample("component"));
  const [image] = await stage.list(DynamoComponent);
  await isReported(stage, DynamoComponent, image!.metadata.name, {
    condition: /^ImageBuilt Unknown Building .*registry.example\/builder:1 cannot be pulled/,
    event: /^Warning ImageCannotBePulled /,
  });
};

/** Bad input, what is said about it, and how it is mended; all but the last on three plain nodes and three with GPUs. */
export const badGraphs: Record<string, Scenario> = {
  "a claim that is missing": claimMissing,
  "a type of GPU that no node has": unknownGpuType,
  "more GPUs than a node has": tooLarge,
  "an image that cannot be pulled": imageMissing,
  "a quota that is exceeded": quotaExceeded,
  "a builder that cannot be pulled": builderMissing,
};
export const withoutNodes: Scenario = noNodes;
