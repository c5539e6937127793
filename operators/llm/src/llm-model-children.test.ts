import assert from "node:assert/strict";
import { test } from "node:test";
import { LLMModel } from "./llm-model.ts";
import { deploymentFor, serviceFor } from "./llm-model-children.ts";

const podSpec = (spec: Parameters<typeof LLMModel.new>[0]["spec"]) =>
  deploymentFor(LLMModel.new({ metadata: { name: "m", namespace: "ns" }, spec })).spec!.template.spec!;
const container = (spec: Parameters<typeof LLMModel.new>[0]["spec"]) => podSpec(spec).containers[0]!;
const mountOf = (spec: Parameters<typeof LLMModel.new>[0]["spec"], volume: string) =>
  container(spec).volumeMounts?.find(({ name }) => name === volume);

test("a model is served under its own name by default", () => {
  assert.equal(container({}).args?.[0], "m");
  assert.deepEqual(container({ modelName: "llama-3-70b" }).args?.slice(0, 1), ["llama-3-70b"]);
  assert.deepEqual(container({ modelName: "llama-3-70b" }).env?.[0], { name: "MODEL_NAME", value: "llama-3-70b" });
});

test("GPUs are asked for, and the model is split across them", () => {
  const { args, resources } = container({ gpuCount: 4 });
  assert.deepEqual(args?.slice(1), ["--tensor-parallel-size", "4"]);
  assert.deepEqual(resources?.limits, { "nvidia.com/gpu": "4" });
  assert.equal(container({ gpuCount: 0 }).resources?.limits, undefined);
});

test("a server requests CPU, memory and local storage, and what a user requests wins", () => {
  const least = { cpu: "1", memory: "4Gi", "ephemeral-storage": "2Gi" };
  assert.deepEqual(container({}).resources?.requests, least);
  const resources = { requests: { cpu: 8, "ephemeral-storage": "200Gi" }, limits: { memory: "64Gi" } };
  assert.deepEqual(container({ gpuCount: 2, resources }).resources, {
    requests: { cpu: "8", "ephemeral-storage": "200Gi" },
    limits: { memory: "64Gi", "nvidia.com/gpu": "2" },
  });
  // A request above the limit would be refused.
  const small = container({ gpuCount: 0, resources: { limits: { memory: "2Gi", cpu: "500m" } } }).resources;
  assert.deepEqual(small?.requests, { "ephemeral-storage": "2Gi" });
});

test("the image's own files cannot be changed; what a server writes has its folders", () => {
  assert.equal(container({}).securityContext?.readOnlyRootFilesystem, true);
  assert.deepEqual(mountOf({}, "temporary"), { name: "temporary", mountPath: "/tmp" });
  const template = { spec: { containers: [{ name: "model", securityContext: { readOnlyRootFilesystem: false } }] } };
  assert.equal(container({ template }).securityContext?.readOnlyRootFilesystem, false);
});

test("a GPU type selects nodes, and without one any node will do", () => {
  const terms = podSpec({ gpuType: "H100" }).affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  assert.deepEqual(terms?.nodeSelectorTerms, [
    { matchExpressions: [{ key: "nvidia.com/gpu.product", operator: "In", values: ["H100"] }] },
  ]);
  assert.equal(podSpec({}).affinity, undefined);
});

test("a server runs as a user who is not root, with a home it can write to, and without variables of Services", () => {
  const { securityContext, enableServiceLinks } = podSpec({});
  assert.deepEqual([securityContext?.runAsUser, securityContext?.fsGroup, enableServiceLinks], [1000, 1000, false]);
  assert.deepEqual(mountOf({}, "home"), { name: "home", mountPath: "/home/model" });
  assert.equal(container({}).env?.find(({ name }) => name === "HOME")?.value, "/home/model");
  const env = [{ name: "HF_TOKEN", valueFrom: { secretKeyRef: { name: "hub", key: "token" } } }];
  assert.deepEqual(container({ env }).env?.at(-1), env[0]);
});

test("a replica that ends answers until no node sends it requests, and finishes what it has", () => {
  const drained = (spec: object) => container(spec).lifecycle!.preStop!.exec!.command!.at(-1)!;
  assert.match(drained({}), /end=time\.monotonic\(\)\+295\n[\s\S]*127\.0\.0\.1:8000[\s\S]*vllm:num_requests_running/);
  assert.equal(podSpec({}).terminationGracePeriodSeconds, 310);
  const template = { spec: { terminationGracePeriodSeconds: 30 } };
  assert.equal(podSpec({ template }).terminationGracePeriodSeconds, 30);
  assert.match(drained({ template }), /end=time\.monotonic\(\)\+15\n/);
});

test("a server is not the first process of its namespace, which would ignore SIGTERM while it loads", () => {
  assert.equal(podSpec({}).shareProcessNamespace, true);
  assert.equal(podSpec({ template: { spec: { shareProcessNamespace: false } } }).shareProcessNamespace, false);
});

test("a template is merged into the pods", () => {
  const template = {
    spec: { tolerations: [{ key: "gpu", operator: "Exists" as const }], containers: [{ name: "model", tty: true }] },
  };
  assert.deepEqual(podSpec({ template }).tolerations, template.spec.tolerations);
  assert.deepEqual([container({ template }).tty, container({ template }).image], [true, container({}).image]);
});

test("a model path is mounted from the node, and the model keeps its name", () => {
  const spec = { modelName: "llama", modelPath: "/models/llama" };
  assert.deepEqual(container(spec).args?.slice(0, 3), ["/models/llama", "--served-model-name", "llama"]);
  assert.deepEqual(mountOf(spec, "model"), { name: "model", mountPath: "/models/llama", readOnly: true });
});

test("a model path on a claim is mounted from the claim", () => {
  const spec = { modelName: "llama", modelPath: "pvc://weights/llama/70b" };
  assert.deepEqual(container(spec).args?.slice(0, 1), ["/mnt/models/llama/70b"]);
  assert.deepEqual(
    podSpec(spec).volumes?.find(({ name }) => name === "model"),
    {
      name: "model",
      persistentVolumeClaim: { claimName: "weights", readOnly: true },
    },
  );
  assert.deepEqual(container({ modelPath: "pvc://weights" }).args?.slice(0, 1), ["/mnt/models"]);
});

test("fetched models are kept on a claim where one is given", () => {
  const spec = { cacheClaim: "hub" };
  assert.deepEqual(podSpec(spec).volumes?.at(-1), { name: "cache", persistentVolumeClaim: { claimName: "hub" } });
  assert.deepEqual(mountOf(spec, "cache"), { name: "cache", mountPath: "/home/model/.cache/huggingface" });
});

test("a replica has as long to load its model as it is given, and a rollout waits for it", () => {
  assert.equal(container({ startupTimeout: "1h" }).startupProbe?.failureThreshold, 360);
  assert.equal(container({ startupTimeout: "1s" }).startupProbe?.failureThreshold, 1);
  const { spec } = deploymentFor(LLMModel.new({ metadata: { name: "m" }, spec: { startupTimeout: "1h" } }));
  assert.equal(spec?.progressDeadlineSeconds, 4200);
});

test("a rollout never takes a replica away before its successor is ready", () => {
  const { strategy } = deploymentFor(LLMModel.new({ metadata: { name: "m" }, spec: {} })).spec!;
  assert.deepEqual(strategy, { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } });
});

test("the Service selects the pods of the Deployment", () => {
  const model = LLMModel.new({ metadata: { name: "m" }, spec: {} });
  const labels = deploymentFor(model).spec!.template.metadata!.labels!;
  for (const [name, value] of Object.entries(serviceFor(model).spec!.selector!)) assert.equal(labels[name], value);
  assert.deepEqual(serviceFor(model).spec!.selector, deploymentFor(model).spec!.selector.matchLabels);
});

test("what contradicts itself is refused by the schema", () => {
  const problems = (spec: Parameters<typeof LLMModel.new>[0]["spec"], name = "m") =>
    LLMModel.validate(LLMModel.new({ metadata: { name }, spec })).map(({ message }) => message);
  assert.match(problems({ gpuCount: 0, gpuType: "H100" })[0]!, /gpuCount requests no GPUs/);
  assert.match(problems({}, "llama.3")[0]!, /no dots/);
  assert.match(problems({}, "x".repeat(55))[0]!, /at most 54 characters/);
  assert.deepEqual(problems({}, "x".repeat(54)), []);
});
