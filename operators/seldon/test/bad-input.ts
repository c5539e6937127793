import {
  isReported,
  lateNode,
  quotaOfPods,
  type Scenario,
  supplyVolumes,
  type TestEnvironment,
  unpullable,
} from "@konverge/operator-suite";
import { SeldonDeployment, seldonOperator } from "@konverge/seldon-operator";
import { PersistentVolumeClaim } from "konverge/kinds";
import { sample } from "./scenarios.ts";

const available = (stage: TestEnvironment) =>
  stage.until("the model is available", async () => {
    return (await stage.find(SeldonDeployment, "flowers"))?.status?.state === "Available";
  });
const untilReported = (stage: TestEnvironment, reason: string, words: RegExp) =>
  isReported(stage, SeldonDeployment, "flowers", {
    condition: new RegExp(`^Ready False ${reason} .*${words.source}`),
    event: new RegExp(`^Warning ${reason} .*${words.source}`),
  });

/** A model of one container, with more in its pods. */
const custom = (image: string, podFields: object) => ({
  apiVersion: "machinelearning.seldon.io/v1",
  kind: "SeldonDeployment",
  metadata: { name: "flowers" },
  spec: {
    predictors: [
      {
        name: "main",
        replicas: 2,
        graph: { name: "classifier", type: "MODEL" },
        componentSpecs: [{ spec: { containers: [{ name: "classifier", image }], ...podFields } }],
      },
    ],
  },
});

const claimMissing: Scenario = async (stage) => {
  await supplyVolumes(stage, "1Gi");
  await stage.start(seldonOperator);
  await stage.apply(
    custom("classifier:1", { volumes: [{ name: "data", persistentVolumeClaim: { claimName: "nowhere" } }] }),
  );
  await untilReported(stage, "ClaimMissing", /no PersistentVolumeClaim nowhere/);
  await stage.client.create(PersistentVolumeClaim, {
    metadata: { name: "nowhere", namespace: stage.namespace },
    spec: { accessModes: ["ReadWriteMany"], resources: { requests: { storage: "1Gi" } } },
  });
  await available(stage);
};

const unknownGpuType: Scenario = async (stage) => {
  await stage.start(seldonOperator);
  await stage.apply(custom("classifier:1", { nodeSelector: { "nvidia.com/gpu.product": "Z9000" } }));
  await untilReported(stage, "NoRoom", /didn't match Pod's node affinity/);
  await stage.apply(custom("classifier:1", { nodeSelector: { "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3" } }));
  await available(stage);
};

const tooLarge: Scenario = async (stage) => {
  await stage.start(seldonOperator);
  await stage.apply(sample("classifier").replace("512Mi", "900Ti"));
  await untilReported(stage, "NoRoom", /Insufficient memory/);
  await stage.apply(sample("classifier"));
  await available(stage);
};

const imageMissing: Scenario = async (stage) => {
  unpullable(stage, "registry.example/none:1");
  await stage.start(seldonOperator);
  await stage.apply(custom("registry.example/none:1", {}));
  await untilReported(stage, "ImageCannotBePulled", /registry.example\/none:1 cannot be pulled/);
  await stage.apply(custom("registry.example/some:1", {}));
  await available(stage);
};

const quotaExceeded: Scenario = async (stage) => {
  const lift = await quotaOfPods(stage, 1);
  await stage.start(seldonOperator);
  await stage.apply(sample("classifier"));
  await untilReported(stage, "QuotaExceeded", /exceeded quota/);
  await lift();
  await available(stage);
};

const noNodes: Scenario = async (stage) => {
  await stage.start(seldonOperator);
  await stage.apply(sample("classifier"));
  await untilReported(stage, "NoRoom", /no nodes available/);
  await lateNode(stage);
  await available(stage);
};

/** Bad input, how it is reported, and how it is fixed. */
export const badModels: Record<string, Scenario> = {
  "a claim that is missing": claimMissing,
  "a type of GPU that no node has": unknownGpuType,
  "more memory than a node has": tooLarge,
  "an image that cannot be pulled": imageMissing,
  "a quota that is exceeded": quotaExceeded,
};
export const withoutNodes: Scenario = noNodes;
