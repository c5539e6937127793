import assert from "node:assert/strict";
import { test } from "node:test";
import type { Condition, KindRef, ObjectOf } from "@konverge/core";
import { z } from "zod";
import { CORPUS } from "../../test/corpus/corpus.ts";
import { cel, listMap, listSet } from "./annotations.ts";
import { ageColumn, conditionColumn } from "./columns.ts";
import { type AnyKind, defineKind } from "./define-kind.ts";
import { quantity } from "./field-types.ts";

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
      columns: {
        Model: ".spec.modelName",
        Ready: conditionColumn("Ready"),
        Replicas: ".spec.replicas",
        Age: ageColumn,
      },
      rules: [cel("self.replicas <= 100", "at most 100 replicas")],
    },
  },
});
type LLMModel = ObjectOf<typeof LLMModel>;

/** Compiles only if the two types are the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <_T extends true>() => {};

test("a definition gives the object's type, read-only and with defaults applied", () => {
  interface Spec {
    readonly modelName?: string | undefined;
    readonly replicas: number;
    readonly gpuType?: "A100" | "H100" | undefined;
  }
  interface Status {
    readonly readyReplicas?: number | undefined;
    readonly conditions?: readonly Condition[] | undefined;
    readonly observedGeneration?: number | undefined;
  }
  same<Same<LLMModel["spec"], Spec>>();
  same<Same<NonNullable<LLMModel["status"]>, Status>>();
  const ref: KindRef<LLMModel> = LLMModel;
  const any: AnyKind[] = [LLMModel, ...CORPUS];
  assert.equal(ref.plural, any[0]?.plural);
});

test("what has a default may be left out of a new object, and nothing else may be misspelt", () => {
  LLMModel.new({ metadata: { name: "llama" } });
  LLMModel.new({ metadata: { name: "llama" }, spec: {} });
  // @ts-expect-error replicas are a number
  LLMModel.new({ metadata: { name: "llama" }, spec: { replicas: "3" } });
  // @ts-expect-error there is no such field
  LLMModel.new({ metadata: { name: "llama" }, spec: { replcas: 3 } });
  // @ts-expect-error an object needs a name
  LLMModel.new({ metadata: { labels: {} }, spec: {} });
  // @ts-expect-error a draft's defaults are not filled in
  const replicas: number = LLMModel.draft({ metadata: { name: "llama" }, spec: {} }).spec.replicas;
  assert.equal(replicas, undefined);
});

test("a spec without defaults has to be given", () => {
  const Strict = defineKind({
    group: "a.example.com",
    kind: "Strict",
    versions: { v1: { spec: z.object({ x: z.int() }) } },
  });
  // @ts-expect-error x is required
  Strict.new({ metadata: { name: "a" } });
  assert.equal(Strict.new({ metadata: { name: "a" }, spec: { x: 1 } }).spec.x, 1);
  same<Same<ObjectOf<typeof Strict>["status"], undefined>>();
});

test("list annotations know what they are attached to", () => {
  z.array(z.object({ name: z.string() })).check(listMap("name"));
  // @ts-expect-error items have no such key
  z.array(z.object({ name: z.string() })).check(listMap("nme"));
  // @ts-expect-error a set of objects is no set
  z.array(z.object({ name: z.string() })).check(listSet());
});

test("a definition gives the CRD", () => {
  const crd = LLMModel.crd();
  assert.equal(crd.metadata.name, "llmmodels.ai.example.com");
  assert.deepEqual(crd.spec.names, {
    kind: "LLMModel",
    plural: "llmmodels",
    singular: "llmmodel",
    listKind: "LLMModelList",
    shortNames: ["llm"],
  });
  const version = crd.spec.versions[0]!;
  assert.deepEqual(version.schema?.openAPIV3Schema?.properties?.["spec"], {
    type: "object",
    properties: {
      modelName: { type: "string" },
      replicas: { type: "integer", format: "int64", minimum: 0, default: 1 },
      gpuType: { type: "string", enum: ["A100", "H100"] },
    },
    "x-kubernetes-validations": [{ rule: "self.replicas <= 100", message: "at most 100 replicas" }],
    default: { replicas: 1 },
  });
  assert.deepEqual(
    version.additionalPrinterColumns?.map(({ name, type }) => `${name} ${type}`),
    ["Model string", "Ready string", "Replicas integer", "Age date"],
  );
  assert.deepEqual(version.subresources, { status: {} });
});

test("a new object has its defaults, a draft has what was written", () => {
  assert.deepEqual(LLMModel.new({ metadata: { name: "llama", namespace: "ai" }, spec: { modelName: "llama-3" } }), {
    apiVersion: "ai.example.com/v1",
    kind: "LLMModel",
    metadata: { name: "llama", namespace: "ai" },
    spec: { modelName: "llama-3", replicas: 1 },
  });
  assert.deepEqual(LLMModel.draft({ metadata: { name: "llama" }, spec: { modelName: "llama-3" } }), {
    apiVersion: "ai.example.com/v1",
    kind: "LLMModel",
    metadata: { name: "llama" },
    spec: { modelName: "llama-3" },
  });
});

test("a new object shares nothing with what it was made from", () => {
  const spec = { modelName: "a" };
  const model = LLMModel.new({ metadata: { name: "llama" }, spec });
  spec.modelName = "b";
  assert.equal(model.spec.modelName, "a");
  assert.notEqual(LLMModel.new({ metadata: { name: "x" } }).spec, LLMModel.new({ metadata: { name: "y" } }).spec);
});

test("objects are judged as an API server would judge them", () => {
  const object = LLMModel.new({ metadata: { name: "llama" }, spec: { replicas: 3 } });
  assert.deepEqual(LLMModel.validate(object), []);
  assert.deepEqual(
    LLMModel.validate({ ...object, spec: { replicas: -1, gpuType: "T4" } }).map(
      ({ field, message }) => `${field}: ${message}`,
    ),
    [
      "spec.replicas: Invalid value: -1: spec.replicas in body should be greater than or equal to 0",
      'spec.gpuType: Unsupported value: "T4": supported values: "A100", "H100"',
      "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
    ],
  );
  assert.deepEqual(
    LLMModel.validate({ ...object, spec: { replicas: 101 } }).map(({ field, message }) => `${field}: ${message}`),
    ["spec: Invalid value: at most 100 replicas"],
  );
  assert.deepEqual(
    LLMModel.validate({ ...object, metadata: { name: "Not A Name" } }).map(({ field }) => field),
    ["metadata.name"],
  );
  assert.deepEqual(
    LLMModel.validate({ ...object, kind: "Other" }).map(({ field, message }) => `${field}: ${message}`),
    ['kind: Invalid value: "Other": must be LLMModel'],
  );
});

test("parsing prunes, defaults and refuses", () => {
  const written = { apiVersion: "ai.example.com/v1", kind: "LLMModel", metadata: { name: "a" }, spec: { junk: 1 } };
  assert.deepEqual(LLMModel.parse(written).spec, { replicas: 1 });
  assert.deepEqual(written.spec, { junk: 1 });
  assert.throws(
    () => LLMModel.parse({ ...written, spec: { replicas: "many" } }),
    /LLMModel\.ai\.example\.com "a" is invalid: .*must be of type int64: "string"|must be of type integer: "string"/,
  );
});

test("a spec is required, unless an empty one will do", () => {
  const spec = (definition: z.ZodType) => {
    const kind = defineKind({ group: "a.example.com", kind: "A", versions: { v1: { spec: definition } } });
    return { required: kind.schema.required, default: kind.schema.properties?.["spec"]?.default };
  };
  assert.deepEqual(spec(z.object({ x: z.int() })), { required: ["spec"], default: undefined });
  assert.deepEqual(spec(z.object({ x: z.int().default(1), y: z.int().optional() })), {
    required: undefined,
    default: { x: 1 },
  });
  assert.deepEqual(spec(z.object({ x: z.int() }).optional()), { required: undefined, default: undefined });
  assert.deepEqual(spec(z.object({ x: z.int(), y: z.int().default(2) }).prefault({ x: 1 })), {
    required: undefined,
    default: { x: 1, y: 2 },
  });
});

test("a status gets conditions and observedGeneration unless it has its own", () => {
  const properties = (status: z.ZodType) =>
    defineKind({ group: "a.example.com", kind: "A", versions: { v1: { spec: z.object({}), status } } }).schema
      .properties?.["status"]?.properties ?? {};
  assert.deepEqual(Object.keys(properties(z.object({ x: z.int().optional() }))), [
    "observedGeneration",
    "conditions",
    "x",
  ]);
  assert.equal(properties(z.object({ conditions: z.string() }))["conditions"]?.type, "string");
});

test("quantities are integers or text of the right form", () => {
  const Sized = defineKind({
    group: "a.example.com",
    kind: "Sized",
    versions: { v1: { spec: z.object({ size: quantity() }) } },
  });
  same<Same<ObjectOf<typeof Sized>["spec"]["size"], string | number>>();
  for (const size of ["500m", "1.5Gi", "2", "1e3", 3])
    assert.deepEqual(Sized.validate(Sized.new({ metadata: { name: "a" }, spec: { size } })), [], String(size));
  for (const size of ["5 Gi", "", "Gi", "1KiB"])
    assert.equal(Sized.validate(Sized.new({ metadata: { name: "a" }, spec: { size } })).length, 1, size);
});

test("rules about changes are held against what was there before", () => {
  const Frozen = CORPUS.find(({ kind }) => kind === "Frozen")!;
  const object = (spec: object) => ({
    apiVersion: "rules.example.com/v1",
    kind: "Frozen",
    metadata: { name: "a" },
    spec,
  });
  const old = object({ required: "a", optional: "b" });
  const problems = (spec: object) =>
    Frozen.validate(object(spec), { old }).map(({ field, message }) => `${field}: ${message}`);
  assert.deepEqual(problems({ required: "a", optional: "b" }), []);
  assert.deepEqual(problems({ required: "x", optional: "b" }), [
    'spec.required: Invalid value: "x": field is immutable',
  ]);
  assert.deepEqual(problems({ required: "a" }), ["spec.optional: Invalid value: field is immutable"]);
});
