import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { describe, test } from "node:test";
import type { KindRef, KubeObject, Schema } from "@konverge/core";
import * as kinds from "./index.ts";
import {
  builtinResources,
  builtinSchema,
  definition,
  definitionNames,
  definitionSchema,
  type TypedKind,
} from "./index.ts";
import { fileOf } from "./type-name.ts";

const at = (schema: Schema, ...path: string[]): Schema =>
  path.reduce((node, name) => {
    const next = name === "[]" ? node.items : node.properties?.[name];
    assert.ok(next, `${name} of ${path.join(".")}`);
    return next;
  }, schema);

const pod = builtinSchema("", "v1", "Pod");
const deployment = builtinSchema("apps", "v1", "Deployment");

describe("built-in resources", () => {
  for (const { group, version, kind, plural, namespaced, definition: name } of builtinResources()) {
    test(`${kind} of ${group || "core"}/${version} has a handle and a schema`, async () => {
      const module = (await import(`./generated/${fileOf(name)}.ts`)) as Record<string, TypedKind<KubeObject>>;
      assert.deepEqual({ ...module[kind] }, { group, version, kind, plural, namespaced });
      assert.ok(existsSync(new URL(`./generated/types/${fileOf(name)}.ts`, import.meta.url)));
      const schema = builtinSchema(group, version, kind);
      for (const field of ["apiVersion", "kind"]) assert.equal(at(schema, field).type, "string");
      assert.ok((kinds as unknown as Record<string, KindRef>)[kind], `${kind} is not exported`);
    });
  }

  test("are listed with preferred versions first, and each kind is exported in its preferred version", () => {
    const names = builtinResources().map(({ group, version, plural }) => `${group}/${version}/${plural}`);
    assert.ok(
      names.indexOf("autoscaling/v2/horizontalpodautoscalers") <
        names.indexOf("autoscaling/v1/horizontalpodautoscalers"),
    );
    assert.equal(kinds.HorizontalPodAutoscaler.version, "v2");
    assert.equal(kinds.Event.group, "");
  });

  test("make objects that say what they are, and fill in nothing else", () => {
    const drafted = kinds.ConfigMap.draft({ metadata: { name: "a" }, data: { x: "1" } });
    assert.deepEqual(drafted, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { x: "1" } });
    const status = { conditions: [], loadBalancer: {} };
    const made = kinds.Service.new({ metadata: { name: "a" }, spec: {}, status });
    assert.deepEqual(made, { apiVersion: "v1", kind: "Service", metadata: { name: "a" }, spec: {}, status });
    assert.equal(kinds.ClusterRole.draft({ metadata: { name: "a" } }).apiVersion, "rbac.authorization.k8s.io/v1");
  });

  test("have kubectl's names, columns and selectable fields", () => {
    const pods = builtinResources().find(({ kind }) => kind === "Pod");
    assert.deepEqual(pods?.shortNames, ["po"]);
    assert.deepEqual(pods?.categories, ["all"]);
    assert.deepEqual(
      pods?.columns.slice(0, 3).map(({ name }) => name),
      ["Name", "Ready", "Status"],
    );
    assert.ok(pods?.selectableFields.includes("spec.nodeName"));
    const eviction = pods?.subresources.find(({ name }) => name === "eviction");
    assert.deepEqual(eviction?.kind, { group: "policy", version: "v1", kind: "Eviction" });
    assert.deepEqual(pods?.subresources.find(({ name }) => name === "status")?.kind, {
      group: "",
      version: "v1",
      kind: "Pod",
    });
  });
});

describe("schemas of built-in kinds", () => {
  const containers = at(pod, "spec", "containers");

  test("say how lists merge", () => {
    const ports = at(containers, "[]", "ports");
    assert.equal(ports["x-kubernetes-list-type"], "map");
    assert.deepEqual(ports["x-kubernetes-list-map-keys"], ["containerPort", "protocol"]);
    assert.deepEqual(ports.go?.patch, { strategy: "merge", mergeKey: "containerPort" });
    assert.equal(at(deployment, "spec", "selector")["x-kubernetes-map-type"], "atomic");
  });

  test("have the defaults that the server sets, of OpenAPI and of its functions", () => {
    assert.equal(at(containers, "[]", "ports", "[]", "protocol").default, "TCP");
    assert.equal(at(pod, "spec", "restartPolicy").default, "Always");
    assert.equal(at(deployment, "spec", "replicas").default, 1);
    assert.deepEqual(at(pod, "spec", "securityContext").default, {});
    assert.equal(at(deployment, "spec", "strategy", "rollingUpdate").default, undefined, "computed from the type");
    const deployments = builtinResources().find(({ kind }) => kind === "Deployment");
    assert.ok(deployments?.computedDefaults.includes("spec.strategy.rollingUpdate"));
  });

  test("have defaults that hold for one kind alone there alone", () => {
    assert.equal(at(pod, "spec", "enableServiceLinks").default, true);
    assert.equal(at(deployment, "spec", "template", "spec", "enableServiceLinks").default, undefined);
  });

  test("have protobuf numbers, through what JSON inlines", () => {
    assert.deepEqual(containers.go?.proto, { field: 2, wire: "bytes" });
    assert.deepEqual(at(pod, "spec", "volumes", "[]", "emptyDir").go?.proto, { field: 2, wire: "bytes", within: [2] });
    assert.deepEqual(at(deployment, "spec", "replicas").go, {
      proto: { field: 1, wire: "varint" },
      omitEmpty: true,
      pointer: true,
    });
    assert.equal(at(pod, "kind").go?.proto, undefined, "kind travels in the envelope");
  });

  test("describe types with a custom JSON form", () => {
    const limits = at(containers, "[]", "resources", "limits").additionalProperties as Schema;
    assert.equal(limits["x-kubernetes-int-or-string"], true);
    assert.equal(limits.go?.message, "Quantity");
    assert.equal(at(pod, "metadata", "creationTimestamp").go?.message, "Time");
    const extra = at(builtinSchema("authentication.k8s.io", "v1", "TokenReview"), "status", "user", "extra");
    assert.equal((extra.additionalProperties as Schema).go?.message, "Items");
  });

  test("may contain themselves", () => {
    const schema = definitionSchema("apiextensions.v1.JSONSchemaProps");
    const inner = at(schema, "not", "not", "not");
    assert.equal(inner.properties, schema.properties);
  });

  test("exist for kinds that are no resource", () => {
    assert.equal(at(builtinSchema("autoscaling", "v1", "Scale"), "spec", "replicas").type, "integer");
    assert.equal(at(builtinSchema("apps", "v1", "DeploymentList"), "items").type, "array");
    assert.equal(at(builtinSchema("apps", "v1", "DeleteOptions"), "gracePeriodSeconds").format, "int64");
    assert.throws(() => builtinSchema("apps", "v1", "Nothing"), /not a built-in kind/);
  });
});

test("no two fields of a definition have the same protobuf number", () => {
  const files = new Set(builtinResources().map((resource) => fileOf(resource.definition)));
  for (const name of [...files, "meta.v1"].flatMap(definitionNames)) {
    const numbers = Object.values(definition(name)?.fields ?? {}).flatMap(([, proto]) =>
      proto === 0 ? [] : [String(proto)],
    );
    assert.equal(new Set(numbers).size, numbers.length, name);
  }
});

test("a kind that is not a name has no definition, and no file is opened for it", () => {
  for (const kind of [".", "a.b", "/../../package", "../x", "constructor", "__proto__", "toString", ""])
    assert.equal(definition(`core.v1.${kind}`), undefined, kind);
});

test("the data has no prose", () => {
  assert.equal(JSON.stringify(definition("core.v1.PodSpec")).includes("description"), false);
});
