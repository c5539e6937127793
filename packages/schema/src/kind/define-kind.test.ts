import assert from "node:assert/strict";
import { test } from "node:test";
import { age, cel, condition, defineKind, type ObjectOf } from "@konverge/schema";
import { z } from "zod";

const LLMModel = defineKind({
  group: "ai.example.com",
  kind: "LLMModel",
  shortNames: ["llm"],
  versions: {
    v1: {
      spec: z.object({
        modelName: z.string().optional(),
        replicas: z.int().min(0).default(1),
        gpuType: z.enum(["A100", "H100"]).optional(),
      }),
      status: z.object({ readyReplicas: z.int().optional() }),
      columns: { Model: ".spec.modelName", Ready: condition("Ready"), Replicas: ".spec.replicas", Age: age },
      rules: [cel("self.replicas <= 100", "at most 100 replicas")],
    },
  },
});
type LLMModel = ObjectOf<typeof LLMModel>;

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const assertType = <_T extends true>() => {};

test("a definition gives the object's type, with defaults applied", () => {
  assertType<
    Equal<LLMModel["spec"], { modelName?: string | undefined; replicas: number; gpuType?: "A100" | "H100" | undefined }>
  >();
  assertType<Equal<NonNullable<LLMModel["status"]>["observedGeneration"], number | undefined>>();
});

test("a definition gives the CRD", () => {
  const crd = LLMModel.crd();
  assert.equal(crd.metadata.name, "llmmodels.ai.example.com");
  const version = crd.spec.versions[0]!;
  assert.deepEqual(version.schema?.openAPIV3Schema?.properties?.["spec"], {
    type: "object",
    properties: {
      modelName: { type: "string" },
      replicas: { type: "integer", format: "int64", minimum: 0, default: 1 },
      gpuType: { type: "string", enum: ["A100", "H100"] },
    },
    "x-kubernetes-validations": [{ rule: "self.replicas <= 100", message: "at most 100 replicas" }],
    default: {},
  });
  assert.deepEqual(
    version.additionalPrinterColumns?.map(({ name, type }) => `${name} ${type}`),
    ["Model string", "Ready string", "Replicas integer", "Age date"],
  );
  assert.deepEqual(version.subresources, { status: {} });
});

test("a new object has its defaults", () => {
  const model = LLMModel.new({ name: "llama", namespace: "ai" }, { modelName: "llama-3" });
  assert.deepEqual(model, {
    apiVersion: "ai.example.com/v1",
    kind: "LLMModel",
    metadata: { name: "llama", namespace: "ai" },
    spec: { modelName: "llama-3", replicas: 1 },
  });
});
