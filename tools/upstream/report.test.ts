import assert from "node:assert/strict";
import { test } from "node:test";
import { prerequisitesOf } from "./prerequisites.ts";
import { pageOf, reasonsOf, summaryOf } from "./report.ts";

const upstream = { name: "ray", operator: "ray-operator", groups: ["ray.io"], tag: "v1", folders: [] };
const attempt = (file: string, result: "converged" | "accepted" | "refused", ...reasons: string[]) => ({
  file,
  result,
  reasons,
  unknownFields: [],
});
const attempts = [
  attempt("a.yaml", "converged"),
  attempt("b.yaml", "accepted", 'RayJob "b" is invalid: spec.x: too long'),
  attempt("c.yaml", "refused", 'RayJob "c" is invalid: spec.x: too long'),
  attempt("d.yaml", "refused", 'RayJob "d" is invalid: spec.x: too long'),
];
const measured = { upstream, source: "Go module", attempts, templates: ["t.yaml"] };

test("manifests are counted, and those with the same cause are one line", () => {
  assert.equal(summaryOf(measured), "ray v1: 2 of 4 manifests accepted (50 %), 1 converged (25 %)");
  assert.deepEqual(reasonsOf(attempts, "refused"), [["RayJob is invalid: spec.x: too long", 2]]);
  const page = pageOf([measured]);
  assert.match(page, /\| ray \| v1 \| Go module \| 4 \| 2 \(50 %\) \| 1 \(25 %\) \| 1 \|/);
  assert.match(page, /\*\*ray\*\*, refused because:\n\n- 2 × RayJob is invalid: spec\.x: too long/);
});

test("what a manifest refers to and does not contain is made for it, with the keys that it names", () => {
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p" },
    spec: {
      serviceAccountName: "worker",
      volumes: [{ persistentVolumeClaim: { claimName: "models" } }, { configMap: { name: "contained" } }],
      containers: [
        {
          env: [{ valueFrom: { secretKeyRef: { name: "token", key: "hf" } } }],
          envFrom: [{ secretRef: { name: "token" } }],
        },
      ],
    },
  };
  const contained = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "contained" } };
  const made = prerequisitesOf([pod, contained] as never);
  assert.deepEqual(
    made.map(({ kind, metadata }) => `${kind} ${metadata.name}`),
    ["ServiceAccount worker", "PersistentVolumeClaim models", "Secret token"],
  );
  assert.deepEqual(Object.keys(made[2]!["data"] as object), ["hf"]);
});
