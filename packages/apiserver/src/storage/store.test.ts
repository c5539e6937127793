import assert from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "@konverge/core";
import fc from "fast-check";
import type { StoredChange } from "./entry.ts";
import type { Journal, JournalRecord, Snapshot } from "./journal.ts";
import { type EntryContent, Store } from "./store.ts";

const content =
  (value: string) =>
  (revision: number): EntryContent => ({
    text: JSON.stringify({ value, revision }),
    uid: "u",
    labels: { value },
    fields: undefined,
  });

type State = Record<string, string>;
const stateOf = (store: Store | Snapshot, resource: string, revision?: number): State | undefined => {
  const live = store instanceof Store ? store.collection(resource) : store.collections.get(resource);
  const collection = revision === undefined ? live : live?.at(revision);
  if (!collection) return undefined;
  return Object.fromEntries(Array.from(collection.scan(""), ({ key, text }) => [key, text]));
};

/** What a watcher makes of the changes it is given. */
function follow(state: State, changes: readonly StoredChange[]): State {
  const next = { ...state };
  for (const { key, entry, previous, deleted } of changes) {
    assert.equal(previous?.text, next[key], "a change begins where the one before it ended");
    if (deleted) delete next[key];
    else next[key] = entry.text;
  }
  return next;
}

const resources = ["pods", "apps/deployments"];
const command = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant("put" as const), resource: fc.nat(1), key: fc.nat(6) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("remove" as const), resource: fc.nat(1), key: fc.nat(6) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("compact" as const), keep: fc.nat(10) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("fork" as const), go: fc.boolean() }) },
);

test("remembers every state it had since the last compaction, and forks are independent", () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
      let time = 0;
      const clock = Object.assign(new VirtualClock(), { now: () => time });
      const forks: { store: Store; states: Map<number, State[]> }[] = [];
      let store = new Store({ clock });
      /** By revision, the state of each resource. */
      let states = new Map([[1, [{}, {}] as State[]]]);
      const current = () => states.get(store.revision)!;
      for (const each of commands) {
        time++;
        if (each.do === "put" || each.do === "remove") {
          const { resource, key } = { resource: resources[each.resource]!, key: `ns/${each.key}` };
          const next = current().map((state) => ({ ...state }));
          if (each.do === "put") next[each.resource]![key] = store.put(resource, key, content("x")).text;
          else if (!(key in next[each.resource]!)) {
            assert.throws(() => store.remove(resource, key, content("x")), /no .* to remove/);
            continue;
          } else {
            store.remove(resource, key, content("gone"));
            delete next[each.resource]![key];
          }
          states.set(store.revision, next);
        } else if (each.do === "compact") {
          store.compact(each.keep === 0 ? Number.POSITIVE_INFINITY : time - each.keep);
        } else {
          const fork = new Store({ clock }, store.snapshot());
          forks.push({ store: each.go ? store : fork, states: new Map(states) });
          if (each.go) store = fork;
          states = new Map(states);
        }
      }
      for (const fork of [...forks, { store, states }]) {
        for (const [revision, expected] of fork.states) {
          resources.forEach((resource, i) => {
            const past = stateOf(fork.store, resource, revision);
            const changes = fork.store.collection(resource).changesAfter(revision);
            if (revision < fork.store.compacted) assert.equal(past, undefined);
            else assert.deepEqual(past, expected[i]);
            if (changes) assert.deepEqual(follow(expected[i]!, changes), stateOf(fork.store, resource));
            else assert.ok(revision < fork.store.compacted, "history is there until it is compacted");
          });
        }
        const bytes = Object.values(stateOf(fork.store, "pods")!).reduce((sum, text) => sum + text.length, 0);
        assert.equal(fork.store.collection("pods").bytes, bytes);
      }
    }),
    { numRuns: 300 },
  );
});

test("compaction forgets what is too old, and what is too much", async () => {
  const clock = new VirtualClock();
  const store = new Store({ clock, history: { ms: 10_000, changes: 5 } });
  const first = store.put("pods", "a", content("1")).revision;
  clock.after(30_000, () => {});
  await clock.step();
  const second = store.put("pods", "b", content("2")).revision;
  assert.equal(store.compacted, first, "a write compacts when it is time to");
  assert.equal(store.collection("pods").at(first - 1), undefined);
  assert.deepEqual(Object.keys(stateOf(store, "pods", first)!), ["a"]);
  assert.equal(store.collection("pods").changesAfter(first)?.length, 1);
  for (let i = 0; i < 8; i++) store.put("pods", "c", content(String(i)));
  store.compact();
  assert.equal(store.compacted, store.revision - 5);
  assert.equal(store.collection("pods").changesAfter(second), undefined);
});

test("the past of large objects is forgotten before it fills the memory, and that of small ones is not", () => {
  const history = { ms: 300_000, changes: 100_000, characters: 100_000 };
  const store = new Store({ clock: new VirtualClock(), history });
  store.put("pods", "small", content("s"));
  const small = store.revision;
  for (let i = 0; i < 100; i++) {
    store.put("pods", "large", content("x".repeat(10_000)));
    const kept = store.collection("pods").changesAfter(store.compacted)!;
    const characters = kept.reduce((sum, { entry }) => sum + entry.text.length, 0);
    assert.ok(characters <= 110_000, `${characters} characters of history`);
  }
  assert.equal(store.collection("pods").changesAfter(small - 1), undefined);
  assert.deepEqual(Object.keys(stateOf(store, "pods")!), ["large", "small"]);
  const others = new Store({ clock: new VirtualClock(), history });
  for (let i = 0; i < 1000; i++) others.put("pods", "small", content("s"));
  assert.equal(others.collection("pods").changesAfter(1)?.length, 1000);
});

test("a watcher of a quiet resource is not too old, however much happened to others", () => {
  const store = new Store({ clock: new VirtualClock() });
  const position = store.put("quiet", "a", content("1")).revision;
  for (let i = 0; i < 10; i++) store.put("busy", "b", content(String(i)));
  store.compact(Number.POSITIVE_INFINITY);
  assert.deepEqual(store.collection("quiet").changesAfter(position), []);
  assert.equal(store.collection("quiet").at(position), undefined, "but a list at that revision is gone, as in etcd");
  assert.equal(store.collection("new").at(position), undefined);
});

test("watchers are woken by changes of their resource alone, until they stop listening", () => {
  const store = new Store({ clock: new VirtualClock() });
  const woken: string[] = [];
  const stop = store.onChange("pods", () => woken.push("pods"));
  store.onChange("nodes", () => woken.push("nodes"));
  store.put("pods", "a", content("1"));
  store.put("nodes", "a", content("1"));
  stop();
  store.put("pods", "a", content("2"));
  assert.deepEqual(woken, ["pods", "nodes"]);
});

test("a watcher that stops listening while it is being woken does not disturb the others", () => {
  const store = new Store({ clock: new VirtualClock() });
  const woken: number[] = [];
  const stops = [0, 1, 2].map((i) =>
    store.onChange("pods", () => {
      woken.push(i);
      for (const stop of stops) stop();
    }),
  );
  store.put("pods", "a", content("1"));
  store.put("pods", "a", content("2"));
  assert.deepEqual(woken, [0, 1, 2]);
});

test("restoring moves on to a new revision, and every watcher must list again", () => {
  const clock = new VirtualClock();
  const store = new Store({ clock });
  store.put("pods", "a", content("1"));
  const before = store.snapshot();
  const late = store.put("pods", "b", content("2")).revision;
  const epoch = store.epoch;
  let woken = 0;
  store.onChange("pods", () => woken++);
  store.restore(before);
  assert.deepEqual(Object.keys(stateOf(store, "pods")!), ["a"]);
  assert.ok(store.revision > late);
  assert.equal(store.published, store.revision);
  assert.equal(woken, 1);
  assert.notEqual(store.epoch, epoch);
  assert.equal(store.collection("pods").changesAfter(late), undefined);
  assert.equal(store.collection("never seen").changesAfter(late), undefined);
  assert.deepEqual(Object.keys(stateOf(before, "pods")!), ["a"], "the snapshot is as it was");
});

/** Keeps records in memory, and fails when the test says so. */
class FakeJournal implements Journal {
  batches: (readonly JournalRecord[])[] = [];
  failure: Error | undefined;
  load = () => undefined;
  append(records: readonly JournalRecord[]): void {
    if (this.failure) throw this.failure;
    this.batches.push(records);
  }
  compact(): void {}
  replace(): void {}
  close(): void {}
}

test("with a journal, the writes of one turn are one batch, and are visible only when it is committed", async () => {
  const clock = new VirtualClock();
  const journal = new FakeJournal();
  const store = new Store({ clock, journal });
  let woken = 0;
  store.onChange("pods", () => woken++);
  const first = store.put("pods", "a", content("1")).revision;
  store.put("pods", "b", content("1"));
  assert.equal(store.published, first - 1);
  assert.equal(woken, 0);
  let answered = false;
  const answer = store.durable()!.then(() => {
    answered = true;
  });
  await Promise.resolve();
  assert.equal(answered, false);
  await clock.step();
  await answer;
  assert.equal(journal.batches.length, 1);
  assert.equal(journal.batches[0]?.length, 2);
  assert.equal(store.published, first + 1);
  assert.equal(woken, 1);
  assert.equal(store.durable(), undefined);
});

test("writes that the journal could not commit are undone, and the writers get the error", async () => {
  const clock = new VirtualClock();
  const journal = new FakeJournal();
  const store = new Store({ clock, journal });
  store.put("pods", "kept", content("1"));
  await clock.step();
  journal.failure = new Error("the disk is full");
  store.put("pods", "kept", content("2"));
  store.put("pods", "lost", content("1"));
  const epoch = store.epoch;
  const answer = store.durable()!;
  await clock.step();
  await assert.rejects(answer, {
    code: 500,
    reason: "InternalError",
    message: "Internal error occurred: the disk is full",
  });
  assert.equal(stateOf(store, "pods")!["lost"], undefined);
  assert.match(stateOf(store, "pods")!["kept"]!, /"1"/);
  assert.notEqual(store.epoch, epoch, "who followed the changes must look again");
  journal.failure = undefined;
  const next = store.put("pods", "later", content("1")).revision;
  await clock.step();
  assert.equal(store.published, next);
  assert.equal(journal.batches.length, 2);
});
