import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { recordCopies } from "../test/recorded.ts";
import { History } from "./history.ts";
import type { ReconcileEntry } from "./protocol.ts";
import { loadRecording } from "./recording-source.ts";

test("a recording shows each reconcile with its trigger, reads and writes, and objects as they were", async () => {
  const folder = mkdtempSync(join(tmpdir(), "konverge-console-"));
  try {
    const file = join(folder, "reconciles.jsonl");
    await recordCopies(file);
    const history = new History({ entries: 1000, characters: 1e7 });
    await loadRecording(file, history);
    const reconciles = history.entries.filter((one): one is ReconcileEntry => one.type === "reconcile");
    const first = reconciles.find(({ writes }) => writes.length > 0)!;
    assert.equal(first.controller, "copies");
    assert.equal(first.key, "default/a");
    assert.match(first.triggers[0]!, /^object ConfigMap default\/a/);
    assert.match(first.reads[0]!, /^ConfigMap default\/a @ \d+$/);
    assert.match(first.writes[0]!.text, /^apply ConfigMap default\/a-copy$/);
    assert.ok(first.writes[0]!.diff?.some(({ path, after }) => path === "data" && after?.includes("hello")));
    const changed = reconciles.findLast(({ writes }) => writes.length > 0)!;
    assert.deepEqual(changed.writes[0]!.diff, [{ path: "data.text", before: "hello", after: "bye" }]);
    const copy = history.find("ConfigMap", "default", "a-copy")!;
    const textAt = (at: number) => (history.object(copy.id, at) as unknown as { data: { text: string } }).data.text;
    assert.equal(textAt(first.at), "hello");
    assert.equal(textAt(changed.at), "bye");
    assert.deepEqual(history.summaries(changed.at).find(({ id }) => id === copy.id)?.owners, [first.object]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
