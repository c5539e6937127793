import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { Pod, Secret } from "@konverge/kinds";
import { SeldonDeployment } from "@konverge/seldon-operator";
import { minio, whyNoMinio } from "./images/minio.ts";
import { mlserver, orchestrator, rclone } from "./images/seldon.ts";
import { NodeCluster } from "./node-cluster.ts";
import { ObjectStore } from "./object-store.ts";
import { RESTRICTED } from "./pods.ts";
import { whyNoRealNodes } from "./requirements.ts";
import { timed, until } from "./waiting.ts";

const NAMESPACE = "flowers";
const MLSERVER = "seldonio/mlserver:1.3.5-sklearn";
const BUCKET = "models";
const FIT = readFileSync(new URL("programs/fit.py", import.meta.url), "utf8");
const POST = `
import sys, urllib.request
request = urllib.request.Request(sys.argv[1], sys.argv[2].encode(), {"Content-Type": "application/json"})
print(urllib.request.urlopen(request, timeout=30).read().decode())
`;
/** Three flowers, one of each kind. */
const ROWS = [5.1, 3.5, 1.4, 0.2, 5.9, 2.8, 4.3, 1.3, 6.9, 3.1, 5.4, 2.1];
const REQUEST = { inputs: [{ name: "rows", datatype: "FP64", shape: [3, 4], data: ROWS }] };

/** Models in an object store, which rclone copies with the credentials of a Secret. */
describe("seldon's models in a bucket", { skip: whyNoRealNodes() || whyNoMinio() }, () => {
  let cluster: NodeCluster;
  let store: ObjectStore;
  const key = (name: string) => `${NAMESPACE}/${name}`;

  before(async () => {
    cluster = await NodeCluster.start({ name: "lane-seldon-bucket", images: [minio, rclone, mlserver, orchestrator] });
    for (const name of [NAMESPACE, "operators", "store"]) await cluster.restrictedNamespace(name);
    cluster.deploy("seldon-operator", "operators");
    store = await ObjectStore.start(cluster.client, "store");
    const secret = async (name: string, stringData: Record<string, string>) =>
      await cluster.client.create(Secret, { metadata: { name, namespace: NAMESPACE }, stringData });
    await secret("bucket", store.rcloneVariables());
    await secret("outdated", { ...store.rcloneVariables(), RCLONE_CONFIG_S3_SECRET_ACCESS_KEY: "another one" });
    await fillBucket();
  });
  after(async () => await cluster?.stop());

  /** Fits models in one container; rclone copies them to the bucket in the next. */
  const fillBucket = async () => {
    const volumeMounts = [{ name: "models", mountPath: "/models" }];
    const container = (name: string, image: string, more: object) => ({
      ...{ name, image, volumeMounts, securityContext: RESTRICTED },
      ...more,
    });
    const env = [{ name: "MODELS", value: "/models" }];
    const envFrom = [{ secretRef: { name: "bucket" } }];
    await cluster.client.create(Pod, {
      metadata: { name: "fill", namespace: NAMESPACE },
      spec: {
        restartPolicy: "OnFailure",
        securityContext: { fsGroup: 1000 },
        initContainers: [container("fit", MLSERVER, { command: ["python3", "-c", FIT], env })],
        containers: [
          container("copy", "seldonio/rclone-storage-initializer:1.18.2", {
            args: ["/models", `s3:${BUCKET}`],
            envFrom,
          }),
        ],
        volumes: [{ name: "models", emptyDir: {} }],
      },
    });
    await until("the bucket has the models", 240, async () => {
      const { status } = await cluster.client.get(Pod, key("fill"));
      return status?.phase === "Succeeded" ? true : undefined;
    });
    assert.deepEqual(await store.list(BUCKET, ""), ["canary/model.joblib", "stable/model.joblib"]);
  };
  const graph = (modelUri: string, envSecretRefName: string) => ({
    ...{ name: "classifier", implementation: "SKLEARN_SERVER" },
    ...{ modelUri, envSecretRefName },
  });
  const create = (name: string, modelUri: string, secret: string) =>
    cluster.client.create(SeldonDeployment, {
      metadata: { name, namespace: NAMESPACE },
      spec: {
        protocol: "v2",
        predictors: [{ name: "main", replicas: 1, graph: graph(modelUri, secret) }],
      } as unknown as SeldonDeployment["spec"],
    });
  const podOf = async (name: string) => {
    const labelSelector = `seldon-app=${name}-main`;
    const { items } = await cluster.client.list(Pod, { namespace: NAMESPACE, labelSelector });
    return items.find(({ metadata }) => !metadata.deletionTimestamp);
  };
  const isAvailable = (name: string) =>
    until(`${name} is available`, 240, async () => {
      const { metadata, status } = await cluster.client.get(SeldonDeployment, key(name));
      const ready = status?.conditions?.find(({ type }) => type === "Ready");
      if (ready?.status === "True" && ready.observedGeneration === metadata.generation) return true;
      throw new Error(JSON.stringify(status));
    });
  /** Asks through the predictor's Service, from the pod itself. Nodes learn of a pod a moment after it is ready. */
  const predicted = (name: string) =>
    until(`${name} answers`, 60, async () => {
      const pod = key((await podOf(name))!.metadata.name!);
      const url = `http://${name}-main.${NAMESPACE}:8000/v2/models/classifier/infer`;
      const ask = ["python3", "-c", POST, url, JSON.stringify(REQUEST)];
      const { stdout, stderr } = await (await cluster.client.exec(pod, ask, { container: "classifier" })).output();
      assert.equal(stderr, "");
      return (JSON.parse(stdout) as { outputs: { data: number[] }[] }).outputs[0]!.data;
    });

  test("rclone copies a model of scikit-learn from a bucket with the credentials of a Secret, and MLServer serves it", async (t) => {
    const serves = async () => {
      await create("iris", `s3://${BUCKET}/stable`, "bucket");
      await isAvailable("iris");
    };
    t.diagnostic(`available after ${await timed(serves)} s`);
    assert.deepEqual(await predicted("iris"), [0, 1, 2]);
  });

  test("with outdated credentials a predictor waits; it serves its model when the Secret is corrected", async (t) => {
    await create("late", `s3:${BUCKET}/canary`, "outdated");
    await until("rclone has failed", 120, async () => {
      const [copied] = (await podOf("late"))?.status?.initContainerStatuses ?? [];
      return (copied?.restartCount ?? 0) > 0 ? true : undefined;
    });
    const { status } = await cluster.client.get(SeldonDeployment, key("late"));
    assert.equal(status?.conditions?.find(({ type }) => type === "Ready")?.status, "False");
    const stringData = store.rcloneVariables();
    await cluster.client.patch(Secret, key("outdated"), { merge: { stringData } });
    t.diagnostic(`available ${await timed(() => isAvailable("late"))} s after the Secret was corrected`);
    assert.deepEqual(await predicted("late"), [10, 11, 12]);
  });
});
