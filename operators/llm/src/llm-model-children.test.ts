import assert from "node:assert/strict";
import { test } from "node:test";
import { LLMModel } from "./llm-model.ts";
import { deploymentFor, serviceFor } from "./llm-model-children.ts";

const container = (spec: Parameters<typeof LLMModel.new>[1]) =>
  deploymentFor(LLMModel.new("m", spec)).spec!.template.spec!.containers[0]!;

test("a model is served under its own name unless told otherwise", () => {
  assert.deepEqual(container({}).args?.slice(0, 2), ["--model", "m"]);
  assert.deepEqual(container({ modelName: "llama-3-70b" }).args?.slice(0, 2), ["--model", "llama-3-70b"]);
  assert.deepEqual(container({ modelName: "llama-3-70b" }).env, [{ name: "MODEL_NAME", value: "llama-3-70b" }]);
});

test("GPUs are asked for, and the model is split across them", () => {
  const { args, resources } = container({ gpuCount: 4 });
  assert.deepEqual(args?.slice(2), ["--tensor-parallel-size", "4"]);
  assert.deepEqual(resources, { limits: { "nvidia.com/gpu": "4" } });
  assert.equal(container({ gpuCount: 0 }).resources, undefined);
});

test("a GPU type selects nodes", () => {
  const { spec } = deploymentFor(LLMModel.new("m", { gpuType: "H100" }));
  assert.deepEqual(spec!.template.spec!.nodeSelector, { "nvidia.com/gpu.product": "H100" });
});

test("a model path is mounted from the node, and the model keeps its name", () => {
  const spec = { modelName: "llama", modelPath: "/models/llama" };
  assert.deepEqual(container(spec).args?.slice(0, 4), ["--model", "/models/llama", "--served-model-name", "llama"]);
  assert.deepEqual(container(spec).volumeMounts?.[1], { name: "model", mountPath: "/models/llama", readOnly: true });
});

test("a rollout never takes a replica away before its successor is ready", () => {
  const { strategy } = deploymentFor(LLMModel.new("m", {})).spec!;
  assert.deepEqual(strategy, { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } });
});

test("the Service selects the pods of the Deployment", () => {
  const model = LLMModel.new("m", {});
  assert.deepEqual(serviceFor(model).spec!.selector, deploymentFor(model).spec!.template.metadata!.labels);
});

test("asking for a type of GPU but none of it is refused", () => {
  const errors = LLMModel.validate(LLMModel.new("m", { gpuCount: 0, gpuType: "H100" }));
  assert.match(errors[0]!.message, /gpuCount asks for none/);
});
