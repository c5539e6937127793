import assert from "node:assert/strict";
import { test } from "node:test";
import { byName, referred, referrers, withReferences } from "../page/references.ts";
import { treeOf } from "../page/tree-model.ts";
import type { ObjectReference, ObjectSummary } from "../src/protocol.ts";

function summary(kind: string, name: string, more: Partial<ObjectSummary> = {}): ObjectSummary {
  const named = { id: `${kind} ${name}`, group: "", version: "v1", kind, plural: "", namespace: "default", name };
  return { ...named, owners: [], state: "ready", message: "", badges: [], ...more };
}

const refersTo = (kind: string, name: string): { references: ObjectReference[] } => ({ references: [{ kind, name }] });
const idsOf = (list: readonly ObjectSummary[] = []) => list.map(({ id }) => id);

test("a reference means an object that is there, in the same namespace or in none, of the kind that the field names", () => {
  const secret = summary("Secret", "main");
  const cluster = summary("PostgresCluster", "main");
  const elsewhere = summary("Secret", "main", { id: "elsewhere", namespace: "other" });
  const volumeClass = summary("StorageClass", "fast", { namespace: undefined } as never);
  const names = byName([secret, cluster, elsewhere, volumeClass]);
  const meant = (kind: string, name: string) => idsOf(referred(summary("User", "u", refersTo(kind, name)), names));
  assert.deepEqual(meant("secret", "main"), ["Secret main"]);
  assert.deepEqual(meant("tlssecret", "main"), ["Secret main"]);
  assert.deepEqual(meant("cluster", "main"), ["PostgresCluster main"]);
  assert.deepEqual(meant("storageclass", "fast"), ["StorageClass fast"]);
  assert.deepEqual(meant("secret", "none"), []);
  assert.deepEqual(meant("text", "main"), []);
});

test("the tree shows a referred object once, and none that it has as a child", () => {
  const own = summary("ConfigMap", "settings", { owners: ["User u"] });
  const references = [...refersTo("configmap", "settings").references, ...refersTo("cluster", "main").references];
  const user = summary("User", "u", { references });
  const deployment = summary("Deployment", "d", { owners: ["User u"], ...refersTo("cluster", "main") });
  const cluster = summary("Cluster", "main");
  const children = new Map([["User u", [own, deployment]]]);
  const tree = withReferences(treeOf(user, children, new Map()), byName([user, own, deployment, cluster]));
  assert.deepEqual(idsOf(tree.uses), ["Cluster main"]);
  assert.deepEqual(
    tree.children.map(({ uses }) => uses),
    [undefined, undefined],
  );
});

test("an object is used by the topmost of those that refer to it", () => {
  const secret = summary("Secret", "login");
  const deployment = summary("Deployment", "d", refersTo("secret", "login"));
  const set = summary("ReplicaSet", "r", { owners: ["Deployment d"], ...refersTo("secret", "login") });
  const objects = new Map([secret, deployment, set].map((one) => [one.id, one]));
  assert.deepEqual(idsOf(referrers(secret, objects, byName(objects.values()))), ["Deployment d"]);
});
