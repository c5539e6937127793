import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { VirtualClock } from "@konverge/core";
import { decodeSnapshot, encodeSnapshot, loadSnapshot, saveSnapshot } from "./snapshot-file.ts";
import { Store } from "./store.ts";

const clock = new VirtualClock();

function someStore(): Store {
  const store = new Store({ clock });
  for (let i = 0; i < 20; i++) {
    store.put(i % 2 ? "pods" : "apps/deployments", `ns/${i % 7}`, (revision) => ({
      text: JSON.stringify({ i, revision, text: "line\nbreak, ünïcode \u{1f600}" }),
      uid: `u${i}`,
      labels: i % 3 ? { app: "web" } : undefined,
      fields: i % 4 ? { "spec.nodeName": "n" } : undefined,
    }));
  }
  return store;
}
const objects = (store: Store) => [...store.resources()].sort().map((name) => [...store.collection(name).scan("")]);

test("a saved snapshot gives back every object, at the same revision, without history", () => {
  const store = someStore();
  const folder = mkdtempSync(join(tmpdir(), "konverge-snapshot-"));
  try {
    const path = join(folder, "state.snapshot");
    saveSnapshot(path, store.snapshot());
    const again = new Store({ clock }, loadSnapshot(path));
    assert.equal(again.revision, store.revision);
    assert.deepEqual(objects(again), objects(store));
    assert.deepEqual(again.collection("pods").changesAfter(again.revision), []);
    assert.equal(again.collection("pods").changesAfter(again.revision - 1), undefined);
    assert.equal(again.collection("unseen").changesAfter(again.revision - 1), undefined);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("what is no snapshot, cut short, altered or newer is refused with the reason", () => {
  const bytes = encodeSnapshot(someStore().snapshot());
  assert.throws(() => decodeSnapshot(Buffer.from("hello")), /is no snapshot/);
  assert.throws(() => decodeSnapshot(new Uint8Array()), /is no snapshot/);
  assert.throws(() => decodeSnapshot(bytes.subarray(0, bytes.length - 10)), /incomplete or damaged/);
  const altered = Uint8Array.from(bytes);
  altered[altered.length - 20]! ^= 1;
  assert.throws(() => decodeSnapshot(altered, "x.snapshot"), /^Error: x\.snapshot is incomplete or damaged/);
  const newer = Buffer.from(bytes.toString().replace('"version":1', '"version":2'));
  assert.throws(() => decodeSnapshot(newer), /newer version/);
});
