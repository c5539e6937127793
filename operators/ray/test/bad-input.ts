import {
  isReported,
  lateNode,
  quotaOfPods,
  type Scenario,
  supplyVolumes,
  type TestEnvironment,
  unpullable,
} from "@konverge/operator-suite";
import { RayCluster, rayOperator } from "@konverge/ray-operator";
import { PersistentVolumeClaim } from "konverge/kinds";
import { sample } from "./scenarios.ts";

const ready = (stage: TestEnvironment) =>
  stage.until(
    "the cluster is ready",
    async () => (await stage.condition(RayCluster, "science", "Ready")) === "True AsExpected",
  );
const told = (stage: TestEnvironment, reason: string, words: RegExp) =>
  isReported(stage, RayCluster, "science", {
    condition: new RegExp(`^Ready False ${reason} .*${words.source}`),
    event: new RegExp(`^Warning ${reason} .*${words.source}`),
  });

/** The sample, with more in the pods of its workers. */
const withWorkers = (fields: string) =>
  sample("cluster").replace(
    /(\n {6}template:\n {8}spec:\n)( {10}containers:\n {12}- name: ray-worker)/,
    `$1${fields}$2`,
  );

const claimMissing: Scenario = async (stage) => {
  await supplyVolumes(stage, "1Gi");
  await stage.start(rayOperator);
  const volume =
    "          volumes:\n            - name: data\n              persistentVolumeClaim:\n                claimName: nowhere\n";
  await stage.apply(withWorkers(volume));
  await told(stage, "ClaimMissing", /no PersistentVolumeClaim nowhere/);
  await stage.client.create(PersistentVolumeClaim, {
    metadata: { name: "nowhere", namespace: stage.namespace },
    spec: { accessModes: ["ReadWriteMany"], resources: { requests: { storage: "1Gi" } } },
  });
  await ready(stage);
};

const unknownGpuType: Scenario = async (stage) => {
  await stage.start(rayOperator);
  const on = (product: string) => `          nodeSelector:\n            nvidia.com/gpu.product: ${product}\n`;
  await stage.apply(withWorkers(on("Z9000")));
  await told(stage, "NoRoom", /didn't match Pod's node affinity/);
  await stage.apply(withWorkers(on("NVIDIA-H100-80GB-HBM3")));
  await ready(stage);
};

const imageMissing: Scenario = async (stage) => {
  unpullable(stage, "registry.example/none:1");
  await stage.start(rayOperator);
  const withImage = (image: string) =>
    sample("cluster").replace(
      "name: ray-worker\n              image: rayproject/ray:2.46.0",
      `name: ray-worker\n              image: ${image}`,
    );
  await stage.apply(withImage("registry.example/none:1"));
  await told(stage, "ImageCannotBePulled", /registry.example\/none:1 cannot be pulled/);
  await stage.apply(withImage("registry.example/ray:1"));
  await ready(stage);
};

const quotaExceeded: Scenario = async (stage) => {
  const lift = await quotaOfPods(stage, 2);
  await stage.start(rayOperator);
  await stage.apply(sample("cluster"));
  await told(stage, "\\S+", /exceeded quota/);
  await lift();
  await ready(stage);
};

const noNodes: Scenario = async (stage) => {
  await stage.start(rayOperator);
  await stage.apply(sample("cluster"));
  await told(stage, "NoRoom", /no nodes available/);
  await lateNode(stage);
  await ready(stage);
};

/** Bad input, how it is reported, and how it is fixed. */
export const badClusters: Record<string, Scenario> = {
  "a claim that is missing": claimMissing,
  "a type of GPU that no node has": unknownGpuType,
  "an image that cannot be pulled": imageMissing,
  "a quota that is exceeded": quotaExceeded,
};
export const withoutNodes: Scenario = noNodes;
