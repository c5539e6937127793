import assert from "node:assert/strict";
import { test } from "node:test";
import { type AnyObject, VirtualClock } from "@konverge/core";
import { scriptedWatch, Thing, thing } from "../../test/scripted-watch.ts";
import { Cache } from "./cache.ts";

function newCache() {
  const clock = new VirtualClock();
  const { client, watches } = scriptedWatch(clock);
  return { clock, watches, cache: new Cache(client) };
}

test("nothing is watched before it starts, and nothing that was not declared", async () => {
  const { clock, watches, cache } = newCache();
  cache.use(Thing);
  await clock.advance(1000);
  assert.equal(watches.length, 0);
  cache.start();
  await clock.advance(1);
  assert.equal(watches.length, 1);
});

test("all who need the same share one watch, which ends with the last of them", async () => {
  const { clock, watches, cache } = newCache();
  const first = cache.use(Thing);
  const second = cache.use(Thing);
  cache.start();
  await clock.advance(1);
  assert.equal(watches.length, 1);
  first.release();
  first.release();
  assert.equal([...cache.informers()].length, 1);
  second.release();
  assert.equal([...cache.informers()].length, 0);
  assert.equal(watches[0]!.request.signal?.aborted, true);
});

test("different selections are different watches", async () => {
  const { clock, watches, cache } = newCache();
  cache.use(Thing);
  cache.use(Thing, { labelSelector: "a=b" });
  cache.use(Thing, { namespaces: ["x"] });
  cache.start();
  await clock.advance(1);
  assert.equal(watches.length, 3);
});

test("several namespaces are one view", async () => {
  const { clock, watches, cache } = newCache();
  const view = cache.use(Thing, { namespaces: ["x", "y"] });
  cache.start();
  await clock.advance(1);
  const inNamespace = (namespace: string) => thing("a", 5, { metadata: { name: "a", namespace } });
  for (const [i, namespace] of ["x", "y"].entries()) {
    assert.match(watches[i]!.request.path, new RegExp(`namespaces/${namespace}/`));
    watches[i]!.send("ADDED", inNamespace(namespace));
    watches[i]!.synced(10);
  }
  await clock.advance(1);
  assert.deepEqual([...view.keys()], ["x/a", "y/a"]);
  assert.equal(view.get("y/a")?.metadata.namespace, "y");
  assert.equal(view.get("z/a"), undefined);
  assert.equal([...view.list("x")].length, 1);
});

test("of objects that no consumer reads, only their existence is kept", async () => {
  const { clock, watches, cache } = newCache();
  const view = cache.use(Thing, { interest: (object) => object.data === "mine" });
  cache.start();
  await clock.advance(1);
  watches[0]!.send("ADDED", thing("a", 5, { data: "mine", spec: 1 }));
  watches[0]!.send("ADDED", thing("b", 6, { data: "theirs", spec: 1 }));
  watches[0]!.synced(10);
  await clock.advance(1);
  assert.equal((view.get("default/a") as AnyObject).spec, 1);
  assert.equal((view.get("default/b") as AnyObject).spec, undefined);
  assert.equal(view.get("default/b")?.metadata.uid, "uid-b");
});

test("a consumer of everything gets everything", async () => {
  const { clock, watches, cache } = newCache();
  cache.use(Thing, { interest: () => false });
  const all = cache.use(Thing);
  cache.start();
  await clock.advance(1);
  assert.equal(watches.length, 1);
  watches[0]!.send("ADDED", thing("a", 5, { spec: 1 }));
  watches[0]!.synced(10);
  await clock.advance(1);
  assert.equal((all.get("default/a") as AnyObject).spec, 1);
});

test("what we write is noted wherever it may be read", async () => {
  const { clock, watches, cache } = newCache();
  const all = cache.use(Thing);
  const here = cache.use(Thing, { namespaces: ["default"] });
  const there = cache.use(Thing, { namespaces: ["other"] });
  cache.start();
  await clock.advance(1);
  for (const watch of watches) watch.synced(10);
  await clock.advance(1);
  cache.saw(Thing, thing("a", 20), "us");
  assert.ok(all.get("default/a"));
  assert.ok(here.get("default/a"));
  assert.equal(there.get("default/a"), undefined);
  assert.equal(cache.uidOf(Thing, "default/a"), "uid-a");
  cache.missed(Thing, "default/a", "uid-a", "us");
  assert.equal(all.get("default/a"), undefined);
});

test("branches share watches, and take nothing from each other when one of them stops", async () => {
  const { clock, watches, cache } = newCache();
  cache.start();
  const [first, second] = [cache.branch(), cache.branch()];
  const mine = first.use(Thing);
  const yours = second.use(Thing);
  await clock.advance(1);
  assert.equal(watches.length, 1);
  watches[0]!.send("ADDED", thing("a", 5));
  watches[0]!.synced(10);
  await clock.advance(1);
  assert.equal(mine.get("default/a"), yours.get("default/a"));
  let told = 0;
  yours.subscribe(() => told++);
  first.stop();
  watches[0]!.send("ADDED", thing("b", 11));
  await clock.advance(1);
  assert.equal(told, 2);
  second.stop();
  assert.equal(watches[0]!.request.signal?.aborted, true);
});

test("an index is its view's own, and goes with the last view that uses its function", async () => {
  const { clock, watches, cache } = newCache();
  const [first, second, third] = [cache.use(Thing), cache.use(Thing), cache.use(Thing)];
  let calls = 0;
  const byData = (object: AnyObject) => {
    calls++;
    return [String(object.data)];
  };
  first.addIndex("by", byData);
  second.addIndex("by", byData);
  third.addIndex("by", ({ metadata }) => [metadata.name]);
  assert.throws(() => third.addIndex("by", byData), /there is already an index "by"/);
  cache.start();
  await clock.advance(1);
  watches[0]!.send("ADDED", thing("a", 5, { data: "x" }));
  watches[0]!.synced(10);
  await clock.advance(1);
  assert.equal(calls, 1);
  assert.deepEqual([...second.find("by", "x")], ["default/a"]);
  assert.deepEqual([...third.find("by", "a")], ["default/a"]);
  first.release();
  watches[0]!.send("MODIFIED", thing("a", 11, { data: "y" }));
  await clock.advance(1);
  assert.deepEqual([...second.find("by", "y")], ["default/a"]);
  second.release();
  watches[0]!.send("MODIFIED", thing("a", 12, { data: "z" }));
  await clock.advance(1);
  assert.equal(calls, 2);
  assert.throws(() => [...second.find("by", "z")], /no index "by"/);
});

test("objects that are kept parsed are the same at every read, frozen, and not those of the writer", async () => {
  const clock = new VirtualClock();
  const { client, watches } = scriptedWatch(clock);
  const cache = new Cache(client, { parsed: () => true });
  const view = cache.use(Thing);
  cache.start();
  await clock.advance(1);
  watches[0]!.send("ADDED", thing("a", 5, { spec: { size: 1 } }));
  watches[0]!.synced(10);
  await clock.advance(1);
  assert.equal(view.get("default/a"), view.get("default/a"));
  assert.ok(Object.isFrozen((view.get("default/a") as AnyObject).spec));
  const written = thing("a", 20, { spec: { size: 2 } }) as AnyObject;
  const befores: unknown[] = [];
  view.subscribe(({ before }) => befores.push((before as AnyObject | undefined)?.spec));
  cache.saw(Thing, written as never, "us");
  (written.spec as { size: number }).size = 3;
  assert.deepEqual((view.get("default/a") as AnyObject).spec, { size: 2 });
  assert.deepEqual(befores, [undefined, { size: 1 }]);
});
