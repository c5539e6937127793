import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import type { Schema } from "@konverge/core";
import { builtinSchema } from "@konverge/kinds";
import fc from "fast-check";
import { mutationOf, valuesOf } from "../../test/arbitrary.ts";
import { CORPUS } from "../../test/corpus/corpus.ts";
import { validateValue } from "../validation/validate.ts";
import { coerce } from "./coerce.ts";
import { applyDefaults, lacksDefaults } from "./defaulting.ts";
import { decodeMetadata, MetadataError } from "./metadata-shape.ts";
import { objectMetaErrors } from "./object-meta.ts";
import { pruneUnknownFields } from "./pruning.ts";

const text = ({ field, message }: { field: string; message: string }) => `${field}: ${message}`;

test("the lazily made schema of a built-in kind prunes, defaults and validates", () => {
  const schema = builtinSchema("apps", "v1", "Deployment");
  const deployment = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web" },
    spec: {
      replicas: "three",
      selector: {},
      template: { spec: { containers: [{ name: "web", imag: "nginx", ports: [{ containerPort: 80 }] }] } },
    },
  };
  assert.deepEqual(pruneUnknownFields(schema, deployment), ["spec.template.spec.containers[0].imag"]);
  assert.deepEqual(validateValue(schema, deployment).map(text), [
    'spec.replicas: Invalid value: "string": spec.replicas in body must be of type integer: "string"',
  ]);
});

test("a schema that contains itself is followed only as far as the object goes", () => {
  const schema = builtinSchema("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
  const nested = { properties: { a: { properties: { b: { type: 5, junk: 1 } } } } };
  const crd = {
    spec: { versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: nested } }] },
  };
  const at = "spec.versions[0].schema.openAPIV3Schema.properties.a.properties.b";
  assert.deepEqual(pruneUnknownFields(schema, crd), [`${at}.junk`]);
  assert.ok(validateValue(schema, crd).some((error) => text(error).startsWith(`${at}.type: Invalid value: "integer"`)));
});

test("the status alone is validated where it stands", () => {
  const schema: Schema = {
    type: "object",
    properties: { ready: { type: "integer", minimum: 0 } },
    anyOf: [{ required: ["ready"] }],
  };
  assert.deepEqual(validateValue(schema, { ready: -1 }, { path: "status" }).map(text), [
    "status.ready: Invalid value: -1: ready in body should be greater than or equal to 0",
  ]);
  assert.deepEqual(validateValue(schema, {}, { path: "status" }).map(text), [
    'status: Invalid value: "": "" must validate at least one schema (anyOf)',
    "status.ready: Required value",
  ]);
});

test("what the scale subresource reads has to be readable", () => {
  const schema: Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const scale = {
    specReplicasPath: ".spec.replicas",
    statusReplicasPath: ".status.replicas",
    labelSelectorPath: ".status.selector",
  };
  const errors = (object: object) => validateValue(schema, object, { scale }).map(text);
  assert.deepEqual(errors({ spec: { replicas: 3 } }), []);
  assert.deepEqual(errors({ spec: { replicas: -1 }, status: { replicas: 2 ** 31, selector: 5 } }), [
    ".spec.replicas: Invalid value: -1: should be a non-negative integer",
    ".status.replicas: Invalid value: 2147483648: should be less than or equal to 2147483647",
    '.status.selector: Invalid value: "": .status.selector accessor error: 5 is of the type int64, expected string',
  ]);
  assert.deepEqual(errors({ spec: "x" }), [
    ".spec.replicas: Invalid value: 0: .spec.replicas accessor error: x is of the type string, expected map[string]interface{}",
  ]);
});

test("metadata is decoded as the server's struct would", () => {
  const decoded = decodeMetadata({
    name: "a",
    labls: {},
    labels: { a: null },
    annotations: {},
    ownerReferences: [{ nme: 1 }],
    generation: 0,
  });
  assert.deepEqual(decoded.unknown, ["labls", "ownerReferences[0].nme"]);
  assert.deepEqual(decoded.metadata, {
    name: "a",
    labels: { a: "" },
    ownerReferences: [{ apiVersion: "", kind: "", name: "", uid: "" }],
  });
  assert.throws(
    () => decodeMetadata({ labels: { a: 1 } }),
    new MetadataError("json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string"),
  );
});

test("metadata of a new object is checked in full", () => {
  const kind = { namespaced: true, nameErrors: (name: string) => (name === "bad" ? ["is bad"] : []) };
  const fields = (metadata: object) => objectMetaErrors(metadata, kind, "metadata").map(({ field }) => field);
  assert.deepEqual(fields({ name: "a", namespace: "b" }), []);
  assert.deepEqual(fields({}), ["metadata.name", "metadata.namespace"]);
  assert.deepEqual(
    fields({ name: "bad", namespace: "B", labels: { "a b": "c d" }, annotations: { "a b": "" }, finalizers: ["x y"] }),
    [
      "metadata.name",
      "metadata.namespace",
      "metadata.labels",
      "metadata.labels",
      "metadata.annotations",
      "metadata.finalizers",
    ],
  );
  const owner = { apiVersion: "v1", kind: "Pod", name: "a", uid: "1", controller: true };
  assert.deepEqual(fields({ name: "a", namespace: "b", ownerReferences: [owner, { ...owner, name: "b" }] }), [
    "metadata.ownerReferences",
  ]);
});

/** Objects of the corpus, sound and broken. */
const judged = fc.oneof(
  ...CORPUS.map((kind) => {
    const specs = valuesOf(kind.schema.properties!["spec"]!);
    return fc.record({ kind: fc.constant(kind.kind), spec: fc.oneof(specs, specs.chain(mutationOf)) });
  }),
);

test("defaulting and pruning are done when they are done once", () => {
  fc.assert(
    fc.property(judged, ({ kind, spec }) => {
      const { schema } = CORPUS.find((candidate) => candidate.kind === kind)!;
      const object = { apiVersion: "x/v1", kind, metadata: { name: "a" }, spec };
      coerce(schema, object);
      const before = structuredClone(object);
      const lacking = lacksDefaults(schema, object);
      applyDefaults(schema, object);
      assert.equal(lacking, !isDeepStrictEqual(object, before));
      assert.equal(lacksDefaults(schema, object), false);
      const once = structuredClone(object);
      assert.deepEqual(coerce(schema, object).unknown, []);
      assert.deepEqual(applyDefaults(schema, object), once);
    }),
    { numRuns: 100, examples: [[{ kind: "PortSet", spec: { ports: [null] } }]] },
  );
});
