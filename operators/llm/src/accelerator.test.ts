import assert from "node:assert/strict";
import { test } from "node:test";
import { claimTemplatesFor } from "./accelerator.ts";
import { LLMModel } from "./llm-model.ts";
import { deploymentFor, metadataOf } from "./llm-model-children.ts";

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

test("claimed devices have a template, which other contents give another name", () => {
  const claim = { deviceClass: "gpu.nvidia.com", selectors: ["device.driver == 'gpu.nvidia.com'"] };
  const spec: Spec = { gpuCount: 2, accelerator: { claim } };
  const [template] = claimTemplatesFor(modelWith(spec).spec, metadataOf(modelWith(spec)));
  assert.deepEqual(template?.spec.spec.devices?.requests, [
    {
      name: "accelerators",
      exactly: {
        deviceClassName: "gpu.nvidia.com",
        allocationMode: "ExactCount",
        count: 2,
        selectors: [{ cel: { expression: "device.driver == 'gpu.nvidia.com'" } }],
      },
    },
  ]);
  const { resourceClaims, containers } = podSpec(spec);
  assert.deepEqual(resourceClaims, [{ name: "accelerators", resourceClaimTemplateName: template?.metadata.name }]);
  assert.deepEqual(containers[0]?.resources?.claims, [{ name: "accelerators" }]);
  assert.equal(containers[0]?.resources?.limits, undefined);
  const [other] = claimTemplatesFor(modelWith({ ...spec, gpuCount: 4 }).spec, metadataOf(modelWith(spec)));
  assert.notEqual(other?.metadata.name, template?.metadata.name);
  assert.deepEqual(claimTemplatesFor(modelWith({}).spec, metadataOf(modelWith({}))), []);
});

test("accelerators that contradict other fields are refused", () => {
  assert.match(problems({ accelerator: {} })[0]!, /exactly one of vendor, mig, resource and claim/);
  assert.match(problems({ gpuCount: 2, accelerator: { mig: "1g.10gb" } })[0]!, /cannot be split across slices/);
  const claim = { deviceClass: "gpu.nvidia.com" };
  assert.match(problems({ gpuType: "H100", accelerator: { claim } })[0]!, /gpuType selects nodes/);
  assert.match(problems({ accelerator: { resource: "habana.ai/gaudi" } })[0]!, /image must be set/);
});
