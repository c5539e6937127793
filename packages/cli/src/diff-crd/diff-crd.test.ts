import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { CustomResourceDefinition } from "@konverge/kinds";
import { crdSetChanges } from "./crd-changes.ts";
import { readCrds } from "./read-crds.ts";
import type { Schema } from "./schema-changes.ts";

interface Given {
  spec?: Schema;
  scope?: string;
  versions?: object[];
  status?: object;
  more?: object;
}

function crd({ spec = {}, scope = "Namespaced", versions, status, more }: Given = {}): CustomResourceDefinition {
  const openAPIV3Schema = { type: "object", properties: { spec: { type: "object", ...spec } } };
  const v1 = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema }, ...more };
  return {
    metadata: { name: "notes.example.com" },
    spec: { group: "example.com", scope, names: { kind: "Note", plural: "notes" }, versions: versions ?? [v1] },
    ...(status && { status }),
  } as unknown as CustomResourceDefinition;
}

function changed(before: Given, after: Given): string[] {
  return crdSetChanges([crd(before)], [crd(after)])
    .flatMap(({ changes }) => changes)
    .map(({ breaking, path, message }) => `${breaking ? "!" : " "} ${path}: ${message}`);
}

const field = (a: Schema, more: Schema = {}): Given => ({ spec: { properties: { a }, ...more } });

test("a CRD that is the same has no changes", () => {
  assert.deepEqual(changed(field({ type: "string" }), field({ type: "string" })), []);
});

test("fields that are removed, and fields that become required, break objects; new ones do not", () => {
  assert.deepEqual(changed(field({ type: "string" }), {}), [
    "! v1 .spec.a: field removed: it is dropped from objects that are written",
  ]);
  assert.deepEqual(changed({}, field({ type: "string" })), ["  v1 .spec.a: field added"]);
  const required = { required: ["a"] };
  assert.deepEqual(changed(field({ type: "string" }), field({ type: "string" }, required)), [
    "! v1 .spec.a: field is required",
  ]);
  assert.deepEqual(changed({}, field({ type: "string", default: "x" }, required)), [
    "  v1 .spec.a: field added",
    "  v1 .spec.a: field is required",
  ]);
  assert.deepEqual(changed(field({ type: "string" }, required), field({ type: "string" })), [
    "  v1 .spec.a: field is optional",
  ]);
});

test("types, enums, bounds, patterns and rules break when they accept less", () => {
  const one = (before: Schema, after: Schema) => changed(field(before), field(after)).map((line) => line.slice(0, 1));
  const breaks = (before: object, after: object) => {
    assert.deepEqual(one(before, after), ["!"], JSON.stringify([before, after]));
    assert.deepEqual(one(after, before), [" "], JSON.stringify([after, before]));
  };
  breaks({ type: "number" }, { type: "integer" });
  breaks({ "x-kubernetes-int-or-string": true }, { type: "string" });
  breaks({ type: "integer" }, { type: "integer", format: "int32" });
  breaks({ type: "integer", format: "int64" }, { type: "integer", format: "int32" });
  breaks({ type: "string", nullable: true }, { type: "string" });
  breaks({ type: "string" }, { type: "string", enum: ["a"] });
  breaks({ type: "string", enum: ["a", "b"] }, { type: "string", enum: ["a"] });
  breaks({ type: "integer" }, { type: "integer", minimum: 1 });
  breaks({ type: "integer", minimum: 1 }, { type: "integer", minimum: 2 });
  breaks({ type: "integer", maximum: 9 }, { type: "integer", maximum: 8 });
  breaks({ type: "array", maxItems: 9 }, { type: "array", maxItems: 8 });
  breaks({ type: "integer", minimum: 1 }, { type: "integer", minimum: 1, exclusiveMinimum: true } as Schema);
  breaks({ type: "string" }, { type: "string", pattern: "^a" });
  breaks({ type: "object" }, { type: "object", "x-kubernetes-validations": [{ rule: "self.a > 1" }] });
  breaks({ type: "object", "x-kubernetes-preserve-unknown-fields": true }, { type: "object" });
  assert.deepEqual(one({ type: "string" }, { type: "boolean" }), ["!"]);
  assert.deepEqual(one({ type: "string", default: "a" }, { type: "string", default: "b" }), ["!"]);
  const map = (key: string) => ({
    type: "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": [key],
  });
  assert.deepEqual(one(map("a"), map("b")), ["!"]);
});

test("a field that is added with a default breaks nothing, though it changes the default of what it is in", () => {
  const before = { spec: { default: { a: 1 }, properties: { a: { type: "integer", default: 1 } } } };
  const b = { type: "string", default: "x" };
  const after = { spec: { default: { a: 1, b: "x" }, properties: { ...before.spec.properties, b } } };
  assert.deepEqual(
    changed(before, after).filter((line) => line.startsWith("!")),
    [],
  );
  assert.equal(changed(after, before).filter((line) => line.startsWith("!")).length, 2);
});

test("changes below lists and maps are found", () => {
  const list = (item: Schema) => field({ type: "array", items: { type: "object", properties: { b: item } } });
  assert.deepEqual(changed(list({ type: "string" }), list({ type: "integer" })), [
    "! v1 .spec.a[].b: type changed from string to integer",
  ]);
  const map = (value: Schema) => field({ type: "object", additionalProperties: value });
  assert.deepEqual(changed(map({ type: "string" }), map({ type: "integer" })), [
    "! v1 .spec.a[*]: type changed from string to integer",
  ]);
});

test("versions, scope, subresources and what is stored", () => {
  const version = (name: string, served: boolean, storage: boolean) => ({ name, served, storage, schema: {} });
  const both = { versions: [version("v1", true, false), version("v2", true, true)] };
  assert.deepEqual(changed(both, { versions: [version("v2", true, true)] }), ["! v1: version removed"]);
  assert.deepEqual(
    changed({ ...both, status: { storedVersions: ["v1", "v2"] } }, { versions: [version("v2", true, true)] }),
    ["! v1: stored version removed: migrate the stored objects first", "! v1: version removed"],
  );
  assert.deepEqual(changed(both, { versions: [version("v1", false, false), version("v2", true, true)] }), [
    "! v1: version is no longer served",
  ]);
  assert.deepEqual(changed(both, { versions: [version("v1", true, true), version("v2", true, false)] }), [
    "  : stored version changed from v2 to v1",
  ]);
  assert.deepEqual(changed({ scope: "Namespaced" }, { scope: "Cluster" }), [
    "! : scope changed from Namespaced to Cluster",
  ]);
  assert.deepEqual(changed({}, { more: { subresources: { status: {} } } }), ["! v1: subresource status added"]);
  assert.deepEqual(changed({}, { more: { subresources: { scale: {} } } }), ["  v1: subresource scale added"]);
  assert.deepEqual(
    crdSetChanges([crd()], []).flatMap(({ changes }) => changes.map(({ message }) => message)),
    ["CRD removed, with all its objects"],
  );
});

test("CRDs are read from a folder, without the other objects in it", () => {
  const config = fileURLToPath(new URL("../../../../config/llm-operator", import.meta.url));
  const names = readCrds(config).map(({ metadata }) => metadata.name);
  assert.ok(names.length >= 2 && names.every((name) => name.endsWith(".example.com")), names.join(" "));
  assert.throws(() => readCrds(`${config}/service.yaml`), /no CustomResourceDefinition in/);
  assert.throws(() => readCrds("/nowhere"), /there is no file or folder \/nowhere/);
});
