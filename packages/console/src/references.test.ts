import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "@konverge/core";
import { referencesOf } from "./references.ts";

const references = (object: object) =>
  referencesOf({ apiVersion: "v1", kind: "Widget", metadata: { name: "a" }, ...object } as KubeObject).map(
    ({ kind, namespace, name }) => `${kind} ${namespace ? `${namespace}/` : ""}${name}`,
  );

test("fields are read by their names, and by kind and name where they have both", () => {
  const spec = {
    secret: "login",
    clusterRef: { name: "main", namespace: "databases" },
    target: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    password: { secretKeyRef: { name: "password", key: "value" } },
    imagePullSecrets: [{ name: "registry" }],
  };
  assert.deepEqual(references({ spec }), [
    "secret login",
    "cluster databases/main",
    "deployment web",
    "secret password",
    "imagepullsecret registry",
  ]);
});

test("a template refers to what its volumes and variables name, and its pods to nothing", () => {
  const template = {
    spec: {
      serviceAccountName: "runner",
      containers: [{ name: "web", image: "nginx:1.29", envFrom: [{ configMapRef: { name: "settings" } }] }],
      volumes: [{ name: "data", persistentVolumeClaim: { claimName: "files" } }],
    },
  };
  assert.deepEqual(references({ spec: { template } }), ["serviceaccount runner", "configmap settings", "claim files"]);
  const owned = { name: "p", ownerReferences: [{ apiVersion: "v1", kind: "ReplicaSet", name: "r", uid: "1" }] };
  assert.deepEqual(references({ kind: "Pod", metadata: owned, spec: template.spec }), []);
});

test("data, states and values that are no names refer to nothing", () => {
  assert.deepEqual(references({ data: { secret: "a" }, status: { secret: "a" }, spec: { text: "Two words." } }), []);
});
