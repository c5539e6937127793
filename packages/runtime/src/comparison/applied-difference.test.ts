import assert from "node:assert/strict";
import { test } from "node:test";
import type { FieldsV1, Schema } from "@konverge/core";
import { builtinSchema } from "@konverge/kinds";
import { appliedDifference } from "./applied-difference.ts";
import { ownedPart, unownedPart } from "./owned-part.ts";

const leaf: FieldsV1 = {};
const isApplied = (...values: Parameters<typeof appliedDifference>) => appliedDifference(...values) === undefined;

test("nothing has to be applied when values and fields are the same", () => {
  const fields = { "f:data": { "f:a": leaf } };
  assert.ok(isApplied(fields, { data: { a: "1" } }, { data: { a: "1", b: "somebody else's" } }));
});

test("a changed value has to be applied", () => {
  assert.ok(!isApplied({ "f:data": { "f:a": leaf } }, { data: { a: "2" } }, { data: { a: "1" } }));
});

test("a field that is new, or that another manager acquired with the same value, must be applied", () => {
  assert.ok(!isApplied({ "f:data": { "f:a": leaf } }, { data: { a: "1", b: "2" } }, { data: { a: "1", b: "2" } }));
});

test("a field that is no longer desired must be released, although its value is still there", () => {
  const fields = { "f:data": { "f:a": leaf, "f:b": leaf } };
  assert.ok(!isApplied(fields, { data: { a: "1" } }, { data: { a: "1", b: "2" } }));
  assert.ok(!isApplied({ "f:data": { "f:a": leaf } }, {}, { data: { a: "1" } }));
});

const ports: FieldsV1 = {
  "f:ports": { 'k:{"containerPort":80,"protocol":"TCP"}': { ".": leaf, "f:containerPort": leaf, "f:name": leaf } },
};

test("an item of a keyed list is found by its keys, also where the server filled one in", () => {
  const desired = { ports: [{ containerPort: 80, name: "web" }] };
  const other = { containerPort: 99, protocol: "TCP", name: "injected" };
  assert.ok(isApplied(ports, desired, { ports: [other, { containerPort: 80, protocol: "TCP", name: "web" }] }));
  assert.ok(!isApplied(ports, desired, { ports: [{ containerPort: 80, protocol: "TCP", name: "wob" }] }));
  assert.ok(!isApplied(ports, desired, { ports: [other] }));
  assert.ok(!isApplied(ports, { ports: [] }, { ports: [other] }));
  const two = { ports: [...desired.ports, { containerPort: 81 }] };
  assert.ok(!isApplied(ports, two, { ports: [{ containerPort: 80, protocol: "TCP", name: "web" }] }));
});

test("two items that differ only in a key with a default are distinguished", () => {
  const fields: FieldsV1 = {
    'k:{"containerPort":53,"protocol":"TCP"}': { ".": leaf, "f:containerPort": leaf, "f:name": leaf },
    'k:{"containerPort":53,"protocol":"UDP"}': {
      ".": leaf,
      "f:containerPort": leaf,
      "f:name": leaf,
      "f:protocol": leaf,
    },
  };
  const desired = [
    { containerPort: 53, protocol: "UDP", name: "udp" },
    { containerPort: 53, name: "tcp" },
  ];
  const live = [
    { containerPort: 53, protocol: "TCP", name: "tcp" },
    { containerPort: 53, protocol: "UDP", name: "udp" },
  ];
  assert.ok(isApplied(fields, desired, live));
});

test("a member of a set must exist, whatever other members there are", () => {
  const fields = { "f:finalizers": { 'v:"a"': leaf } };
  assert.ok(isApplied(fields, { finalizers: ["a"] }, { finalizers: ["b", "a"] }));
  assert.ok(!isApplied(fields, { finalizers: ["a"] }, { finalizers: ["b"] }));
  assert.ok(!isApplied(fields, { finalizers: ["a", "b"] }, { finalizers: ["b", "a"] }));
});

test("an atomic list or map is ours as a whole", () => {
  const fields = { "f:args": leaf, "f:selector": leaf };
  const live = { args: ["a", "b"], selector: { app: "web", tier: "x" } };
  assert.ok(isApplied(fields, { args: ["a", "b"], selector: { tier: "x", app: "web" } }, live));
  assert.ok(!isApplied(fields, { args: ["b", "a"], selector: { app: "web", tier: "x" } }, live));
  assert.ok(!isApplied(fields, { args: ["a", "b"], selector: { app: "web" } }, live));
});

test("nulls and empty lists are nothing", () => {
  const fields = { "f:spec": { "f:a": leaf } };
  assert.ok(isApplied(fields, { spec: { a: 1, b: null, c: [], d: {} } }, { spec: { a: 1 } }));
});

test("a schema tells defaults, zero values and quantities", () => {
  const pod = builtinSchema("", "v1", "Pod");
  const container: FieldsV1 = {
    ".": leaf,
    "f:name": leaf,
    "f:stdin": leaf,
    "f:env": { 'k:{"name":"N"}': { ".": leaf, "f:name": leaf, "f:valueFrom": { "f:fieldRef": leaf } } },
    "f:resources": { "f:limits": { "f:cpu": leaf, "f:memory": leaf } },
  };
  const fields = { "f:spec": { "f:hostNetwork": leaf, "f:containers": { 'k:{"name":"m"}': container } } };
  const draft = (fieldPath: string, cpu: string | number) => ({
    spec: {
      hostNetwork: false,
      containers: [
        {
          name: "m",
          stdin: false,
          env: [{ name: "N", valueFrom: { fieldRef: { fieldPath } } }],
          resources: { limits: { cpu, memory: "1024Mi" } },
        },
      ],
    },
  });
  const live = {
    spec: {
      containers: [
        {
          name: "m",
          env: [{ name: "N", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "metadata.name" } } }],
          resources: { limits: { cpu: "500m", memory: "1Gi" } },
        },
      ],
    },
  };
  assert.ok(isApplied(fields, draft("metadata.name", "0.5"), live, pod));
  assert.ok(isApplied(fields, draft("metadata.name", 0.5), live, pod));
  assert.ok(!isApplied(fields, draft("metadata.uid", "0.5"), live, pod));
  assert.ok(!isApplied(fields, draft("metadata.name", "0.6"), live, pod));
});

test("what is left out of an atomic field has to go, unless it is a default", () => {
  const pod = builtinSchema("", "v1", "Pod");
  const env = (secretKeyRef: object) => ({
    spec: { containers: [{ name: "m", env: [{ name: "S", valueFrom: { secretKeyRef } }] }] },
  });
  const fields = {
    "f:spec": {
      "f:containers": {
        'k:{"name":"m"}': {
          ".": leaf,
          "f:name": leaf,
          "f:env": { 'k:{"name":"S"}': { ".": leaf, "f:name": leaf, "f:valueFrom": { "f:secretKeyRef": leaf } } },
        },
      },
    },
  };
  const live = env({ name: "s", key: "k", optional: true });
  assert.ok(!isApplied(fields, env({ name: "s", key: "k" }), live, pod));
  assert.ok(isApplied(fields, env({ name: "s", key: "k", optional: true }), live, pod));
});

test("the part of an object that a field set owns is what would have to be applied again", () => {
  const live = {
    spec: {
      replicas: 3,
      ports: [
        { port: 80, protocol: "TCP", name: "a" },
        { port: 81, protocol: "TCP" },
      ],
      args: ["x"],
    },
    finalizers: ["ours", "theirs"],
  };
  const fields: FieldsV1 = {
    "f:spec": {
      "f:args": leaf,
      "f:ports": { 'k:{"port":80,"protocol":"TCP"}': { ".": leaf, "f:name": leaf } },
    },
    "f:finalizers": { 'v:"ours"': leaf },
  };
  assert.deepEqual(ownedPart(fields, live, undefined), {
    spec: { args: ["x"], ports: [{ port: 80, protocol: "TCP", name: "a" }] },
    finalizers: ["ours"],
  });
  assert.deepEqual(unownedPart(fields, live, undefined), {
    spec: {
      replicas: 3,
      ports: [
        { port: 80, protocol: "TCP" },
        { port: 81, protocol: "TCP" },
      ],
    },
    finalizers: ["theirs"],
  });
  assert.equal(unownedPart({ "f:a": leaf, "f:b": { "f:c": leaf } }, { a: 1, b: { c: 2 } }, undefined), undefined);
});

test("an empty object may be filled by others, unless it is ours as a whole", () => {
  const pod = builtinSchema("", "v1", "Pod");
  const spec = (resources: object) => ({ spec: { containers: [{ name: "m", resources }] } });
  const item: FieldsV1 = { ".": leaf, "f:name": leaf, "f:resources": leaf };
  const fields: FieldsV1 = { "f:spec": { "f:containers": { 'k:{"name":"m"}': item } } };
  assert.ok(isApplied(fields, spec({}), spec({ limits: { cpu: "1" } }), pod));
  const atomic = { "f:spec": { "f:selector": leaf } };
  const service = builtinSchema("", "v1", "Service");
  assert.ok(!isApplied(atomic, { spec: { selector: {} } }, { spec: { selector: { app: "x" } } }, service));
});

test("an empty field set owns a value as a whole, but nothing in a map or list that managers share", () => {
  const conditions: Schema = { type: "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] };
  const schema: Schema = {
    type: "object",
    properties: {
      selector: { type: "object", "x-kubernetes-map-type": "atomic" },
      counts: { type: "object", additionalProperties: { type: "integer" } },
      conditions,
      args: { type: "array" },
    },
  };
  const live = { selector: { a: "b" }, counts: { a: 1 }, conditions: [{ type: "Ready" }], args: ["x"] };
  const fields = { "f:selector": leaf, "f:counts": leaf, "f:conditions": leaf, "f:args": leaf };
  assert.deepEqual(ownedPart(leaf, live, schema), {});
  assert.deepEqual(unownedPart(leaf, live, schema), live);
  assert.deepEqual(ownedPart(fields, live, schema), { selector: { a: "b" }, counts: {}, conditions: [], args: ["x"] });
  assert.deepEqual(unownedPart(fields, live, schema), { counts: { a: 1 }, conditions: [{ type: "Ready" }] });
});

test("a difference is reported by its path", () => {
  const desired = { ports: [{ containerPort: 80, name: "web" }] };
  const live = { ports: [{ containerPort: 80, protocol: "TCP", name: "wob" }] };
  assert.equal(appliedDifference(ports, desired, live), '.ports[{"containerPort":80,"protocol":"TCP"}].name');
  assert.equal(
    appliedDifference({ "f:args": leaf }, { args: ["a", { b: 1 }] }, { args: ["a", { b: 2 }] }),
    ".args[1].b",
  );
});
