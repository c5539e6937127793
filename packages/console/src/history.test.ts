import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "@konverge/core";
import { History } from "./history.ts";
import type { ChangeEntry } from "./protocol.ts";

const CONFIG_MAP = { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps" };
const SECRET = { group: "", version: "v1", kind: "Secret", plural: "secrets" };
const LIMITS = { entries: 1000, characters: 1e6 };

function configMap(name: string, data: Record<string, string>, managedFields: unknown[] = []): KubeObject {
  const metadata = { name, namespace: "default", uid: `uid-${name}`, managedFields };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data } as unknown as KubeObject;
}

test("objects are shown as they were at a time", () => {
  const history = new History(LIMITS);
  history.observe(CONFIG_MAP, configMap("a", { text: "first" }), 100);
  history.observe(CONFIG_MAP, configMap("a", { text: "second" }), 200);
  history.forget("uid-a", 300);
  const textAt = (at: number) => (history.object("uid-a", at) as { data?: { text: string } } | undefined)?.data?.text;
  assert.deepEqual([99, 100, 199, 200, 299, 300].map(textAt), [
    undefined,
    "first",
    "first",
    "second",
    "second",
    undefined,
  ]);
  assert.equal(history.summaries(250).length, 1);
  assert.equal(history.summaries().length, 0);
});

test("an entry says which fields changed, and who changed them", () => {
  const history = new History(LIMITS);
  const managers = [
    { manager: "kubectl", operation: "Apply", time: "2026-01-01T00:00:00Z" },
    { manager: "copies", operation: "Apply", time: "2026-01-01T00:00:05Z" },
  ];
  history.observe(CONFIG_MAP, configMap("a", { text: "first", same: "x" }), 100);
  history.observe(CONFIG_MAP, configMap("a", { text: "second", same: "x" }, managers), 200);
  const entry = history.entries.at(-1) as ChangeEntry;
  assert.deepEqual(entry.diff, [{ path: "data.text", before: "first", after: "second" }]);
  assert.equal(entry.by, "copies");
});

test("memory is bounded: the oldest entries and versions go, the present state stays", () => {
  const history = new History({ entries: 100, characters: 20_000 });
  for (let i = 0; i < 5000; i++) history.observe(CONFIG_MAP, configMap(`n${i % 50}`, { text: String(i) }), i);
  assert.ok(history.entries.length <= 110, String(history.entries.length));
  assert.equal(history.summaries().length, 50);
  assert.equal(history.object("uid-n0", 10), undefined);
  assert.equal((history.object("uid-n49") as unknown as { data: { text: string } }).data.text, "4999");
});

test("deleted objects are forgotten with their versions", () => {
  const history = new History({ entries: 100, characters: 5000 });
  for (let i = 0; i < 1000; i++) {
    history.observe(CONFIG_MAP, configMap(`n${i}`, { text: "x".repeat(100) }), 2 * i);
    history.forget(`uid-n${i}`, 2 * i + 1);
  }
  assert.equal(history.find("ConfigMap", "default", "n0"), undefined);
  assert.ok(history.find("ConfigMap", "default", "n999"));
});

test("values of Secrets are in no entry and in no version", () => {
  const history = new History(LIMITS);
  const secret = (password: string) =>
    ({
      apiVersion: "v1",
      kind: "Secret",
      metadata: {
        name: "s",
        uid: "uid-s",
        annotations: { "kubectl.kubernetes.io/last-applied-configuration": `{"data":{"password":"${password}"}}` },
      },
      data: { password },
    }) as unknown as KubeObject;
  history.observe(SECRET, secret("c2VjcmV0LTE="), 1);
  history.observe(SECRET, secret("c2VjcmV0LTI="), 2);
  assert.doesNotMatch(JSON.stringify([history.entries, history.object("uid-s")]), /c2VjcmV0/);
});
