import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Observer } from "../observe/observer.ts";
import { readRecording } from "./read-recording.ts";
import { ReconcileRecorder } from "./recorder.ts";

const folder = mkdtempSync(join(tmpdir(), "konverge-recorder-"));
after(() => rmSync(folder, { recursive: true }));

const start = (key: string) => ({
  cluster: "home",
  controller: "c",
  key,
  triggers: [{ type: "object" as const }],
  waited: 0,
  failures: 0,
});

function reconcile(recorder: Observer, key: string): void {
  recorder.reconciling!(start(key))!.ended!({ outcome: "done", duration: 1 });
}

const keys = async (file: string) => (await Array.fromAsync(readRecording(file))).map(({ key }) => key);

test("a recording goes on where an earlier process left off", async () => {
  const file = join(folder, "twice.jsonl");
  for (const key of ["a", "b"]) {
    using recorder = new ReconcileRecorder(file);
    reconcile(recorder, key);
  }
  assert.deepEqual(await keys(file), ["a", "b"]);
  assert.equal(readFileSync(file, "utf8").split("\n").length, 4);
});

test("a file that has grown too large is put aside", async () => {
  const file = join(folder, "large.jsonl");
  using recorder = new ReconcileRecorder({ file, limit: 300 });
  for (let i = 0; i < 5; i++) reconcile(recorder, `key-${i}`);
  const [kept, put] = [await keys(file), await keys(`${file}.1`)];
  assert.deepEqual(kept, ["key-4"]);
  assert.deepEqual(put, ["key-2", "key-3"]);
});

test("a line that a crash cut off is left out, one in the middle is an error", async () => {
  const file = join(folder, "torn.jsonl");
  {
    using recorder = new ReconcileRecorder(file);
    reconcile(recorder, "a");
  }
  appendFileSync(file, '{"cluster":"home","contr');
  assert.deepEqual(await keys(file), ["a"]);
  appendFileSync(file, "\n{}\n");
  await assert.rejects(keys(file), /torn\.jsonl:3 is not a line of a recording/);
});

test("what is no recording is refused", async () => {
  const file = join(folder, "other.txt");
  writeFileSync(file, "hello\n");
  await assert.rejects(keys(file), /other\.txt:1 is not a line of a recording/);
  writeFileSync(file, '{"konverge":"recording","version":99}\n');
  await assert.rejects(keys(file), /a recording of version 99, and this program reads version 1/);
});

test("a reconcile that JSON cannot hold is noted without what it did", async () => {
  const file = join(folder, "circle.jsonl");
  using recorder: ReconcileRecorder = new ReconcileRecorder(file);
  const line = recorder.reconciling(start("a"))!;
  const circle: Record<string, unknown> = {};
  line.externalCall!("circle")!({ value: { toJSON: () => circle } });
  circle["self"] = circle;
  line.ended!({ outcome: "done", duration: 1 });
  const [only] = await Array.fromAsync(readRecording(file));
  assert.match(only!.end.error!.message, /could not be recorded/);
});

test("a file that cannot be written is an error at once", () => {
  assert.throws(() => new ReconcileRecorder(join(folder, "no", "such", "folder")), /ENOENT/);
});
