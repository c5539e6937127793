import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { seededRandom, VirtualClock } from "@konverge/core";
import fc from "fast-check";
import { SqliteJournal } from "./sqlite-journal.ts";
import { JournalError } from "./sqlite-schema.ts";
import { type EntryContent, type Snapshot, Store } from "./store.ts";

const folder = mkdtempSync(join(tmpdir(), "konverge-journal-"));
after(() => rmSync(folder, { recursive: true }));
let files = 0;
const newPath = () => join(folder, `${files++}.db`);

const content =
  (value: string, labels?: Record<string, string>) =>
  (revision: number): EntryContent => ({ text: JSON.stringify({ value, revision }), uid: "u", labels, fields: labels });

function open(path: string, clock = new VirtualClock(), changes = 1000): Store {
  return new Store({ clock, journal: new SqliteJournal({ path }), history: { ms: 300_000, changes } });
}

/** Everything that two stores with the same past have in common. */
function contents(snapshot: Snapshot) {
  const collections = [...snapshot.collections].filter(([, collection]) => collection.size > 0).sort();
  return {
    revision: snapshot.revision,
    objects: collections.map(([resource, collection]) => [resource, [...collection.scan("")]]),
  };
}

test("what was written is there after a restart, with its labels, and with the history that was not compacted", () => {
  const path = newPath();
  const store = open(path);
  const first = store.put("pods", "ns/a", content("ä\u{1f600}\0", { app: "web" })).revision;
  store.put("pods", "ns/b", content("2"));
  const removed = store.remove("pods", "ns/a", content("gone")).revision;
  const before = store.snapshot();
  const changes = store.collection("pods").changesAfter(1);
  store.close();

  const again = open(path);
  assert.deepEqual(contents(again.snapshot()), contents(before));
  assert.deepEqual(again.collection("pods").changesAfter(1), changes);
  assert.equal(again.collection("pods").at(first)?.get("ns/a")?.labels?.["app"], "web");
  assert.equal(again.put("pods", "ns/c", content("3")).revision, removed + 1);
  again.close();
});

test("a watch from before the kept history expires after a restart", () => {
  const path = newPath();
  const store = open(path);
  for (let i = 0; i < 10; i++) store.put("pods", `ns/${i}`, content("1"));
  const kept = store.revision;
  store.put("pods", "flush", content("1"));
  store.snapshot();
  store.compact(Number.POSITIVE_INFINITY);
  store.put("pods", "ns/0", content("2"));
  store.close();

  const again = open(path);
  assert.equal(again.collection("pods").changesAfter(kept), undefined);
  assert.equal(again.collection("pods").at(kept), undefined);
  assert.equal(again.collection("unseen").changesAfter(kept), undefined);
  assert.equal(again.collection("pods").changesAfter(kept + 1)?.length, 1);
  again.close();
});

test("after any sequence of writes, compactions, restores and restarts the file holds what memory held", () => {
  const step = fc.oneof(
    { weight: 10, arbitrary: fc.record({ do: fc.constant("put" as const), key: fc.nat(8) }) },
    { weight: 5, arbitrary: fc.record({ do: fc.constant("remove" as const), key: fc.nat(8) }) },
    { weight: 3, arbitrary: fc.constant({ do: "commit" as const, key: 0 }) },
    { weight: 2, arbitrary: fc.constant({ do: "compact" as const, key: 0 }) },
    { weight: 1, arbitrary: fc.constant({ do: "save" as const, key: 0 }) },
    { weight: 1, arbitrary: fc.constant({ do: "restore" as const, key: 0 }) },
    { weight: 2, arbitrary: fc.constant({ do: "restart" as const, key: 0 }) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const path = newPath();
      let store = open(path, undefined, 6);
      let saved = store.snapshot();
      for (const { do: what, key } of [...steps, { do: "restart", key: 0 }]) {
        const [resource, name] = [key % 2 ? "pods" : "nodes", `ns/${key}`];
        if (what === "put") store.put(resource, name, content(String(key), { key: "v" }));
        else if (what === "remove" && store.collection(resource).get(name)) store.remove(resource, name, content(""));
        else if (what === "commit") store.snapshot();
        else if (what === "compact") store.compact();
        else if (what === "save") saved = store.snapshot();
        else if (what === "restore") store.restore(saved);
        else if (what === "restart") {
          const before = store.snapshot();
          store.close();
          store = open(path, undefined, 6);
          assert.deepEqual(contents(store.snapshot()), contents(before));
          assert.equal(store.compacted, before.compacted);
          for (const [resource, collection] of before.collections) {
            const changes = collection.changesAfter(before.compacted);
            assert.deepEqual(store.collection(resource).changesAfter(before.compacted), changes);
          }
        }
      }
      store.close();
    }),
    { numRuns: 40 },
  );
});

test("killed at any moment, a process loses nothing that it acknowledged", async () => {
  const path = newPath();
  const random = seededRandom(7);
  const child = fileURLToPath(new URL("../../test/sqlite-journal.child.ts", import.meta.url));
  /** By key, the revision of what must be there. */
  let expected = new Map<string, number>();
  for (let round = 0; round < 6; round++) {
    const writers = spawn(process.execPath, [child, path, String(round)], { stdio: ["ignore", "pipe", "inherit"] });
    const exit = new Promise((resolve) => writers.on("exit", (_code, signal) => resolve(signal)));
    let patience = 1 + random.below(400);
    let acknowledged = 0;
    for await (const line of createInterface({ input: writers.stdout })) {
      const [revision, sign, key] = line.split(" ") as [string, string, string];
      if (sign === "+") expected.set(key, Number(revision));
      else expected.delete(key);
      acknowledged = Number(revision);
      if (--patience === 0) writers.kill("SIGKILL");
    }
    assert.equal(await exit, "SIGKILL");

    const store = open(path);
    const found = new Map(Array.from(store.collection("things").scan(""), ({ key, revision }) => [key, revision]));
    const different = new Set([...expected.keys(), ...found.keys()]).values();
    const surplus = [...different].filter((key) => expected.get(key) !== found.get(key));
    // Each of the three writers may have had one write committed that it could not report any more: newer than all it reported.
    assert.ok(surplus.length <= 3, `round ${round}: ${surplus}`);
    for (const key of surplus)
      assert.ok((found.get(key) ?? store.revision) > acknowledged - 3, `round ${round}: ${key}`);
    assert.ok(store.revision >= acknowledged);
    expected = found;
    store.close();
  }
});

test("a file that another one has open is refused", () => {
  const path = newPath();
  const store = open(path);
  store.put("pods", "a", content("1"));
  assert.throws(() => new SqliteJournal({ path }), {
    name: "JournalError",
    code: "InUse",
    message: /in use by another process\. Stop that process first/,
  });
  store.close();
  open(path).close();
});

test("a file of a newer version, or of another program, is not changed", () => {
  const newer = newPath();
  open(newer).close();
  const raw = new DatabaseSync(newer);
  raw.exec("PRAGMA user_version = 99");
  raw.close();
  assert.throws(() => open(newer), { code: "NewerVersion", message: /its format is 99, this version knows up to 1/ });

  const foreign = newPath();
  const other = new DatabaseSync(foreign);
  other.exec("CREATE TABLE notes (text TEXT)");
  other.close();
  assert.throws(() => open(foreign), { code: "Foreign" });

  const noDatabase = newPath();
  writeFileSync(noDatabase, "apiVersion: v1\n".repeat(100));
  assert.throws(() => open(noDatabase), { code: "Damaged", message: /file is not a database.*to start empty/ });

  assert.throws(() => open(folder), { code: "Unreadable" });
});

test("whatever byte of a file is damaged: it loads as it was, or says that it is damaged", () => {
  const path = newPath();
  const store = open(path, undefined, 50);
  for (let i = 0; i < 120; i++) store.put("pods", `ns/${i % 40}`, content("x".repeat(i * 7), { app: "web" }));
  store.snapshot();
  store.compact();
  store.put("pods", "last", content("1"));
  const expected = contents(store.snapshot());
  store.close();
  const whole = readFileSync(path);
  const copy = newPath();
  const random = seededRandom(3);
  let noticed = 0;
  for (let i = 0; i < 150; i++) {
    const bytes = Uint8Array.from(whole);
    // The header's version fields are tested above: damage there looks like a newer or a foreign file.
    const at = 100 + random.below(bytes.length - 100);
    bytes[at]! ^= 1 << random.below(8);
    writeFileSync(copy, bytes);
    let damagedStore: Store | undefined;
    try {
      damagedStore = open(copy);
      assert.deepEqual(contents(damagedStore.snapshot()), expected, `byte ${at}`);
    } catch (error) {
      assert.ok(error instanceof JournalError, `byte ${at}: ${error}`);
      assert.equal(error.code, "Damaged", `byte ${at}: ${error}`);
      noticed++;
    }
    damagedStore?.close();
  }
  assert.ok(noticed > 75, `only ${noticed} of 150 were noticed`);
});

test("when the file cannot grow, the change is refused and nothing else is lost", async () => {
  const path = newPath();
  const clock = new VirtualClock();
  const store = open(path, clock);
  store.put("pods", "kept", content("1"));
  store.snapshot();
  const raw = Reflect.get(DatabaseSync.prototype, "exec") as (sql: string) => void;
  let limited: DatabaseSync | undefined;
  DatabaseSync.prototype.exec = function (sql: string) {
    limited = this;
    return raw.call(this, sql);
  };
  try {
    store.put("pods", "small", content("1"));
    store.snapshot();
    raw.call(limited, "PRAGMA max_page_count = 1");
    store.put("pods", "large", content("x".repeat(100_000)));
    const answer = store.durable()!;
    await clock.step();
    await assert.rejects(answer, { code: 500, message: /the disk is full\. Free some space/ });
    assert.equal(store.collection("pods").get("large"), undefined);
    raw.call(limited, "PRAGMA max_page_count = 100000");
    store.put("pods", "later", content("1"));
    store.snapshot();
  } finally {
    DatabaseSync.prototype.exec = raw;
  }
  store.close();
  const again = open(path);
  assert.deepEqual(
    Array.from(again.collection("pods").scan(""), ({ key }) => key),
    ["kept", "later", "small"],
  );
  again.close();
});

test("the file does not grow with compacted history", () => {
  const path = newPath();
  const store = open(path, undefined, 100);
  for (let i = 0; i < 5000; i++) {
    store.put("leases", `ns/${i % 10}`, content("x".repeat(1000)));
    if (i % 20 === 0) store.snapshot();
    if (i % 100 === 0) store.compact();
  }
  store.close();
  const { size } = statSync(path);
  assert.ok(size < 600_000, `${size} bytes for 10 objects and 100 changes of 1 kB`);
});

test("objects take little more of the file than they are long, also once they are part of the base", () => {
  const path = newPath();
  const store = open(path, new VirtualClock(), 100);
  const text = "x".repeat(1_400);
  for (let i = 0; i < 1_000; i++) {
    store.put("pods", `ns/${(i * 7919) % 1_000}`, content(text));
    if (i % 50 === 0) store.compact();
    store.snapshot();
  }
  store.close();
  const perObject = statSync(path).size / 1_000;
  assert.ok(perObject < 2 * text.length, `${perObject} bytes`);
});

test("the file can be read by its owner alone", { skip: process.platform === "win32" }, () => {
  const path = join(folder, "nested", "state.db");
  const store = open(path);
  store.put("secrets", "a", content("1"));
  store.snapshot();
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(statSync(`${path}-wal`).mode & 0o777, 0o600);
  store.close();
});

test("a store that is started from a snapshot begins a new journal", () => {
  const [one, two] = [newPath(), newPath()];
  const store = open(one);
  store.put("pods", "a", content("1"));
  const snapshot = store.snapshot();
  store.close();
  const other = open(two);
  other.put("nodes", "other", content("1"));
  other.close();
  new Store({ clock: new VirtualClock(), journal: new SqliteJournal({ path: two }) }, snapshot).close();
  const again = open(two);
  assert.deepEqual(contents(again.snapshot()), contents(snapshot));
  again.close();
});
