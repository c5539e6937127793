import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { CustomResourceDefinition } from "@konverge/kinds";
import { operators } from "@konverge/operators";
import type { Operator } from "@konverge/runtime";
import { parseYaml, z } from "@konverge/schema";
import { greetingOperator } from "../../test/greeting-operator.ts";
import { DEFAULT_IMAGE } from "./defaults.ts";
import { editorSchemas } from "./editor-schema.ts";
import { operatorObjects } from "./operator-objects.ts";

const crdsOf = (operator: Operator) => operatorObjects(operator, { namespace: "default", image: DEFAULT_IMAGE }).crds;

const schemaOf = (openAPIV3Schema: object, scope = "Namespaced") =>
  editorSchemas({
    spec: {
      group: "example.com",
      scope,
      names: { kind: "Note", plural: "notes" },
      versions: [{ name: "v1", schema: { openAPIV3Schema } }],
    },
  } as unknown as CustomResourceDefinition).get("v1") as {
    required: string[];
    properties: Record<string, Record<string, unknown>>;
  };

test("each version has a schema for its own apiVersion, in which a field that does not exist is an error", () => {
  const schemas = editorSchemas(crdsOf(greetingOperator)[0]!);
  assert.deepEqual([...schemas.keys()].sort(), ["v1", "v1alpha1"]);
  const { properties, required } = schemas.get("v1alpha1") as ReturnType<typeof schemaOf>;
  assert.deepEqual(properties["apiVersion"], { const: "test.example.com/v1alpha1" });
  assert.deepEqual(required, ["apiVersion", "kind", "metadata", "spec"]);
  assert.equal(properties["spec"]!["additionalProperties"], false);
  assert.deepEqual(Object.keys(properties["spec"]!["properties"] as object), ["whom"]);
});

test("what OpenAPI writes in another way than JSON Schema is translated", () => {
  const spec = {
    type: "object",
    properties: {
      port: { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] },
      share: { type: "number", minimum: 0, exclusiveMinimum: true, nullable: true },
      level: { type: "string", enum: ["a", "b"], nullable: true },
      free: { type: "object", properties: { a: { type: "string" } }, "x-kubernetes-preserve-unknown-fields": true },
      words: { type: "object", additionalProperties: { type: "string" } },
      timeout: { type: "string", format: "duration" },
    },
    oneOf: [{ required: ["port"] }, { properties: { share: { minimum: 1 } } }],
  };
  const { properties } = schemaOf({ type: "object", properties: { spec } }, "Cluster");
  assert.equal("namespace" in (properties["metadata"]!["properties"] as object), false);
  const { properties: own, oneOf } = properties["spec"] as { properties: object; oneOf: object };
  assert.deepEqual(own, {
    port: { type: ["integer", "string"], anyOf: [{ type: "integer" }, { type: "string" }] },
    share: { type: ["number", "null"], exclusiveMinimum: 0 },
    level: { type: ["string", "null"], enum: ["a", "b", null] },
    free: { type: "object", properties: { a: { type: "string" } } },
    words: { type: "object", additionalProperties: { type: "string" } },
    timeout: { type: "string" },
  });
  assert.deepEqual(oneOf, [{ required: ["port"] }, { properties: { share: { minimum: 1 } } }]);
});

test("the samples of all operators fit the schemas of their kinds", () => {
  // JSON Schema as another implementation reads it.
  const validators = new Map<string, z.ZodType>();
  for (const crd of operators.flatMap(crdsOf)) {
    const { group, names } = crd.spec;
    for (const [version, schema] of editorSchemas(crd))
      validators.set(`${group}/${version} ${names.kind}`, z.fromJSONSchema(schema as never));
  }
  const root = fileURLToPath(new URL("../../../../operators/", import.meta.url));
  let checked = 0;
  for (const file of globSync("*/samples/*.yaml", { cwd: root })) {
    for (const object of parseYaml(readFileSync(`${root}${file}`, "utf8")) as { apiVersion: string; kind: string }[]) {
      const validator = validators.get(`${object.apiVersion} ${object.kind}`);
      if (!validator) continue;
      const { error } = validator.safeParse(object);
      assert.equal(error, undefined, `${file}: ${error && z.prettifyError(error)}`);
      assert.ok(validator.safeParse({ ...object, spce: {} }).error, `${file}: a field that does not exist`);
      checked++;
    }
  }
  assert.ok(checked > 10, `${checked} samples`);
});
