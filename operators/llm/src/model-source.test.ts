import assert from "node:assert/strict";
import { test } from "node:test";
import { LLMModel } from "./llm-model.ts";
import { deploymentFor } from "./llm-model-children.ts";
import { ModelDeployment } from "./model-deployment.ts";
import { configMapsFor, statefulSetFor } from "./model-deployment-children.ts";

type Source = NonNullable<NonNullable<Parameters<typeof LLMModel.new>[0]["spec"]>["source"]>;

const podSpec = (source: Source, more: object = {}) => {
  const model = LLMModel.new({ metadata: { name: "m", namespace: "ns" }, spec: { source, ...more } });
  return deploymentFor(model).spec!.template.spec!;
};

test("a repository is downloaded by the server, in its revision and with its token", () => {
  const huggingFace = { repo: "org/llama", revision: "v2", tokenSecret: { name: "hub", key: "token" } };
  const [server] = podSpec({ huggingFace }).containers;
  assert.deepEqual(server!.args?.slice(0, 5), ["org/llama", "--served-model-name", "m", "--revision", "v2"]);
  assert.deepEqual(server!.env?.at(-1), {
    name: "HF_TOKEN",
    valueFrom: { secretKeyRef: { name: "hub", key: "token" } },
  });
});

test("a claim is mounted read-only, and the model is a folder of it", () => {
  const { containers, volumes } = podSpec({ claim: { name: "weights", path: "/llama/8b/" } });
  assert.deepEqual(containers[0]!.args?.slice(0, 1), ["/mnt/models/llama/8b"]);
  const { persistentVolumeClaim } = volumes!.find(({ name }) => name === "model")!;
  assert.deepEqual(persistentVolumeClaim, { claimName: "weights", readOnly: true });
});

test("a bucket is downloaded into the cache before the server starts", () => {
  const s3 = { uri: "s3://models/llama/8b/", endpoint: "https://minio:9000", credentialsSecret: "bucket" };
  const { containers, initContainers, volumes } = podSpec({ s3 });
  const location = "/home/model/.cache/huggingface/s3/models/llama/8b";
  assert.deepEqual(containers[0]!.args?.slice(0, 1), [location]);
  const [download] = initContainers!;
  assert.deepEqual(download!.args?.slice(0, 6), [
    "copy",
    ":s3:models/llama/8b",
    location,
    "--s3-provider=Other",
    "--s3-env-auth=true",
    "--s3-endpoint=https://minio:9000",
  ]);
  assert.deepEqual(download!.envFrom, [{ secretRef: { name: "bucket" } }]);
  assert.deepEqual(volumes!.find(({ name }) => name === "cache")?.emptyDir, {});
  assert.deepEqual(
    podSpec({ s3 }, { cacheClaim: "kept" }).volumes!.find(({ name }) => name === "cache")?.persistentVolumeClaim,
    { claimName: "kept" },
  );
});

test("an image is a volume", () => {
  const { containers, volumes } = podSpec({ image: { reference: "registry/llama:1", path: "model" } });
  assert.deepEqual(containers[0]!.args?.slice(0, 1), ["/mnt/models/model"]);
  assert.deepEqual(volumes!.find(({ name }) => name === "model")?.image, { reference: "registry/llama:1" });
});

test("a ModelDeployment has its source in its configuration and in its pods", () => {
  const source = { huggingFace: { repo: "org/llama", revision: "v2" } };
  const deployment = (spec: object) =>
    ModelDeployment.new({ metadata: { name: "m", namespace: "ns" }, spec: { model: "llama", ...spec } });
  const config = configMapsFor(deployment({ source }))[0]!.data?.["config.yaml"] ?? "";
  for (const line of ["model: org/llama", "served-model-name: llama", "revision: v2"])
    assert.ok(config.split("\n").includes(line), config);
  const planned = statefulSetFor(deployment({ source: { s3: { uri: "s3://models/llama" } } }), {
    products: [],
    replicas: 1,
  });
  assert.match(JSON.stringify(planned), /"name":"download-model","image":"rclone/);
});

test("exactly one source is accepted", () => {
  const problems = (spec: object) =>
    LLMModel.validate(LLMModel.new({ metadata: { name: "m" }, spec })).map(({ message }) => message);
  assert.match(problems({ source: {} })[0]!, /exactly one of huggingFace, claim, s3 and image must be set/);
  const claim = { name: "weights" };
  assert.match(problems({ source: { claim, image: { reference: "x" } } })[0]!, /exactly one/);
  assert.match(
    problems({ source: { claim }, modelPath: "/models" })[0]!,
    /source and modelPath must not be set together/,
  );
  assert.match(problems({ source: { s3: { uri: "https://bucket" } } })[0]!, /should match/);
  assert.deepEqual(problems({ source: { claim } }), []);
});
