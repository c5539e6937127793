import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldOwners } from "../page/field-owners.ts";

test("fields have the managers of managedFields, also in lists with keys, sets and atomic parts", () => {
  const object = {
    metadata: { finalizers: ["example.com/a", "example.com/b"] },
    spec: { replicas: 2, containers: [{ name: "web", image: "nginx" }], selector: { app: "web" } },
  };
  const ownersOf = fieldOwners(object, [
    {
      manager: "kubectl",
      fieldsV1: {
        "f:spec": {
          "f:containers": { 'k:{"name":"web"}': { ".": {}, "f:image": {} } },
          "f:selector": {},
          "f:replicas": {},
        },
      },
    } as never,
    { manager: "autoscaler", fieldsV1: { "f:spec": { "f:replicas": {} } } } as never,
    { manager: "operator", fieldsV1: { "f:metadata": { "f:finalizers": { 'v:"example.com/b"': {} } } } } as never,
  ]);
  assert.deepEqual(ownersOf(["spec", "replicas"]), ["kubectl", "autoscaler"]);
  assert.deepEqual(ownersOf(["spec", "containers", 0, "image"]), ["kubectl"]);
  assert.deepEqual(ownersOf(["spec", "selector", "app"]), ["kubectl"]);
  assert.deepEqual(ownersOf(["metadata", "finalizers", 1]), ["operator"]);
  assert.deepEqual(ownersOf(["metadata", "finalizers", 0]), []);
});
