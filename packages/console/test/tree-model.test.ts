import assert from "node:assert/strict";
import { test } from "node:test";
import { rootOf, treeOf } from "../page/tree-model.ts";
import type { ObjectSummary } from "../src/protocol.ts";

function summary(kind: string, name: string, more: Partial<ObjectSummary> = {}): ObjectSummary {
  const named = { id: name, group: "", version: "v1", kind, plural: `${kind.toLowerCase()}s`, name };
  return { ...named, owners: [], state: "ready", message: "", badges: [], ...more };
}

const childrenOf = (list: readonly ObjectSummary[]) => {
  const found = new Map<string, ObjectSummary[]>();
  for (const one of list) for (const owner of one.owners) found.set(owner, [...(found.get(owner) ?? []), one]);
  return found;
};

test("a tree begins with the topmost owner that is known", () => {
  const all = [
    summary("Deployment", "d"),
    summary("ReplicaSet", "r", { owners: ["d"] }),
    summary("Pod", "p", { owners: ["r"] }),
  ];
  const objects = new Map(all.map((one) => [one.id, one]));
  const root = rootOf(all[2]!, objects);
  assert.equal(root.id, "d");
  const tree = treeOf(root, childrenOf(all), new Map());
  assert.equal(tree.children[0]!.children[0]!.object.id, "p");
});

test("objects that own each other do not make an endless tree", () => {
  const all = [summary("A", "a", { owners: ["b"] }), summary("B", "b", { owners: ["a"] })];
  const objects = new Map(all.map((one) => [one.id, one]));
  assert.equal(treeOf(rootOf(all[0]!, objects), childrenOf(all), new Map()).children.length, 1);
});

test("pods that are requested and not there are missing, with the reason", () => {
  const set = summary("ReplicaSet", "r", { replicas: { ready: 1, desired: 3 }, problem: "exceeded quota" });
  const pod = summary("Pod", "p", { owners: ["r"], pod: { phase: "Running", gpus: 0, containers: [] } });
  const tree = treeOf(set, childrenOf([set, pod]), new Map());
  assert.deepEqual(tree.missing, { text: "2 pods are missing", why: "exceeded quota" });
});
