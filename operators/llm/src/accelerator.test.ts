import assert from "node:assert/strict";
import { test } from "node:test";
import { LLMModel } from "./llm-model.ts";
import { deploymentFor } from "./llm-model-children.ts";

type Spec = Parameters<typeof LLMModel.new>[0]["spec"];
const modelWith = (spec: Spec) => LLMModel.new({ metadata: { name: "m", namespace: "ns" }, spec });
const podSpec = (spec: Spec) => deploymentFor(modelWith(spec)).spec!.template.spec!;
const limits = (spec: Spec) => podSpec(spec).containers[0]!.resources?.limits;
const problems = (spec: Spec) => LLMModel.validate(modelWith(spec)).map(({ message }) => message);

test("accelerators are requested by the resource of their vendor, profile or name", () => {
  assert.deepEqual(limits({ gpuCount: 2 }), { "nvidia.com/gpu": "2" });
  assert.deepEqual(limits({ gpuCount: 2, accelerator: { vendor: "AMD" } }), { "amd.com/gpu": "2" });
  assert.deepEqual(limits({ accelerator: { vendor: "Intel" }, image: "xpu" }), { "gpu.intel.com/xe": "1" });
  assert.deepEqual(limits({ accelerator: { mig: "1g.10gb" } }), { "nvidia.com/mig-1g.10gb": "1" });
  assert.deepEqual(limits({ gpuCount: 8, accelerator: { resource: "habana.ai/gaudi" }, image: "x" }), {
    "habana.ai/gaudi": "8",
  });
});

test("a type of GPU is looked for in the label of its vendor", () => {
  const { affinity } = podSpec({ gpuType: "MI300X", accelerator: { vendor: "AMD" } });
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  assert.equal(terms?.[0]?.matchExpressions?.[0]?.key, "amd.com/gpu.product-name");
});

test("devices are claimed by a template of the user's", () => {
  const { resourceClaims, containers } = podSpec({ gpuCount: 2, accelerator: { claimTemplate: "two-gpus" } });
  assert.deepEqual(resourceClaims, [{ name: "accelerators", resourceClaimTemplateName: "two-gpus" }]);
  assert.deepEqual(containers[0]?.resources?.claims, [{ name: "accelerators" }]);
  assert.equal(containers[0]?.resources?.limits, undefined);
  assert.deepEqual(containers[0]?.args?.slice(-2), ["--tensor-parallel-size", "2"]);
  assert.equal(podSpec({ gpuCount: 0, accelerator: { claimTemplate: "two-gpus" } }).resourceClaims, undefined);
});

test("accelerators that contradict other fields are refused", () => {
  assert.match(problems({ accelerator: {} })[0]!, /exactly one of vendor, mig, resource and claimTemplate/);
  assert.match(problems({ gpuCount: 2, accelerator: { mig: "1g.10gb" } })[0]!, /cannot be split across slices/);
  assert.match(problems({ gpuType: "H100", accelerator: { claimTemplate: "x" } })[0]!, /gpuType selects nodes/);
  assert.match(problems({ accelerator: { resource: "habana.ai/gaudi" } })[0]!, /image must be set/);
});
