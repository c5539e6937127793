import assert from "node:assert/strict";
import { test } from "node:test";
import { type AnyObject, type KindRef, type ManagedFieldsEntry, VirtualClock } from "@konverge/core";
import { Pod } from "@konverge/kinds";
import { type OpenWatch, scriptedWatch, Thing, thing } from "../../test/scripted-watch.ts";
import type { CacheChange } from "./change.ts";
import { fieldsOf } from "./field-set-pool.ts";
import { Informer, type InformerOptions } from "./informer.ts";

interface Stage {
  clock: VirtualClock;
  informer: Informer<AnyObject>;
  changes: CacheChange<AnyObject>[];
  watches: OpenWatch[];
  /** The watch that is open now. */
  server: OpenWatch;
}

/** An informer that has listed these things. */
async function stage(
  initial: AnyObject[],
  { kind = Thing, ...options }: InformerOptions<AnyObject> & { kind?: KindRef<AnyObject> } = {},
): Promise<Stage> {
  const clock = new VirtualClock();
  const { client, watches } = scriptedWatch(clock);
  const informer = new Informer(client, kind, options);
  const changes: CacheChange<AnyObject>[] = [];
  informer.subscribe((change) => changes.push(change));
  informer.start();
  await clock.advance(1);
  const server = watches[0]!;
  for (const object of initial) server.send("ADDED", object);
  server.synced(100);
  await clock.advance(1);
  return { clock, informer, changes, watches, server };
}

const seen = (changes: CacheChange<AnyObject>[]) =>
  changes.splice(0).map(({ type, key, object }) => `${type} ${key} ${object.metadata.resourceVersion}`);

test("it is synced when the listing is complete, and not before", async () => {
  const clock = new VirtualClock();
  const { client, watches } = scriptedWatch(clock);
  const informer = new Informer(client, Thing);
  informer.start();
  await clock.advance(1);
  watches[0]!.send("ADDED", thing("a", 5));
  await clock.advance(1);
  assert.equal(informer.synced, false);
  watches[0]!.synced(10);
  await clock.advance(1);
  assert.equal(informer.synced, true);
  assert.equal(informer.resourceVersion, "10");
  await informer.whenSynced();
});

test("it follows changes and tells listeners what was before", async () => {
  const { clock, informer, changes, server } = await stage([thing("a", 5, { data: "old" })]);
  assert.deepEqual(seen(changes), ["added default/a 5"]);
  server.send("MODIFIED", thing("a", 101, { data: "new" }));
  server.send("ADDED", thing("b", 102));
  await clock.advance(1);
  assert.equal(changes[0]?.before?.data, "old");
  assert.equal(changes[0]?.object.data, "new");
  assert.equal(changes[0]?.listed, false);
  assert.equal(informer.get("default/a")?.data, "new");
  server.send("DELETED", thing("a", 103));
  await clock.advance(1);
  assert.deepEqual(seen(changes), ["changed default/a 101", "added default/b 102", "deleted default/a 103"]);
  assert.equal(informer.get("default/a"), undefined);
  assert.equal(informer.size, 1);
});

test("a late listener gets all existing objects", async () => {
  const { informer } = await stage([thing("a", 5), thing("b", 6)]);
  const keys: string[] = [];
  informer.subscribe(({ key, listed }) => keys.push(`${key} ${listed}`));
  assert.deepEqual(keys, ["default/a true", "default/b true"]);
});

test("objects are frozen, so that no caller can change the cache", async () => {
  const { clock, informer, server } = await stage([thing("a", 5, { spec: { list: [1] } })]);
  const listed = informer.get("default/a") as AnyObject & { spec: { list: number[] } };
  assert.throws(() => listed.spec.list.push(2), TypeError);
  server.send("MODIFIED", thing("a", 101, { spec: { list: [1] } }));
  await clock.advance(1);
  assert.throws(() => {
    (informer.get("default/a") as AnyObject & { spec: { x: number } }).spec.x = 1;
  }, TypeError);
});

test("managedFields are dropped, but what our own managers applied is known", async () => {
  const managedFields: ManagedFieldsEntry[] = [
    { manager: "us", operation: "Apply", fieldsV1: { "f:data": { "f:a": {} } } },
    { manager: "us", operation: "Apply", subresource: "status", fieldsV1: { "f:status": {} } },
    { manager: "them", operation: "Apply", fieldsV1: { "f:data": { "f:b": {} } } },
    { manager: "us", operation: "Update", fieldsV1: { "f:data": { "f:c": {} } } },
  ];
  const { informer } = await stage([thing("a", 5, { metadata: { name: "a", managedFields } })], {
    managers: new Set(["us"]),
  });
  assert.equal(informer.get("default/a")?.metadata.managedFields, undefined);
  assert.deepEqual(fieldsOf(informer.own("default/a"), "us"), { "f:data": { "f:a": {} } });
  assert.deepEqual(fieldsOf(informer.own("default/a"), "us", "status"), { "f:status": {} });
  assert.equal(fieldsOf(informer.own("default/a"), "them"), undefined);
});

test("after an expired watch, what is missing from the new listing is gone", async () => {
  const { clock, informer, changes, server, watches } = await stage([thing("a", 5), thing("b", 6)]);
  seen(changes);
  server.expire();
  await clock.advance(1000);
  const again = watches.at(-1)!;
  again.send("ADDED", thing("b", 6));
  again.send("ADDED", thing("c", 150));
  again.synced(200);
  await clock.advance(1);
  assert.deepEqual(seen(changes), ["added default/c 150", "deleted default/a 5"]);
  assert.deepEqual([...informer.keys()].sort(), ["default/b", "default/c"]);
});

test("a stream that ends is taken up where it stopped, without a listing", async () => {
  const { clock, informer, server, watches } = await stage([thing("a", 5)]);
  server.send("MODIFIED", thing("a", 120));
  await clock.advance(1);
  server.end();
  await clock.advance(60_000);
  assert.match(watches.at(-1)!.request.path, /resourceVersion=120/);
  assert.doesNotMatch(watches.at(-1)!.request.path, /sendInitialEvents/);
  assert.equal(informer.synced, true);
});

test("the scope is the server's to apply", async () => {
  const { server } = await stage([], { namespace: "team", labelSelector: "app=web", fieldSelector: "metadata.name=x" });
  assert.match(server.request.path, /^\/apis\/example.com\/v1\/namespaces\/team\/things\?/);
  assert.match(server.request.path, /labelSelector=app%3Dweb/);
  assert.match(server.request.path, /fieldSelector=metadata.name%3Dx/);
});

test("indexes find objects by what they say now", async () => {
  const { clock, informer, server } = await stage([thing("a", 5, { spec: "red" }), thing("b", 6, { spec: "red" })]);
  const colour = (object: AnyObject) => [String(object.spec)];
  informer.addIndex(colour);
  assert.deepEqual([...informer.find(colour, "red")], ["default/a", "default/b"]);
  server.send("MODIFIED", thing("a", 101, { spec: "blue" }));
  server.send("DELETED", thing("b", 102));
  await clock.advance(1);
  assert.deepEqual([...informer.find(colour, "red")], []);
  assert.deepEqual([...informer.find(colour, "blue")], ["default/a"]);
});

test("our own write is seen at once, and its echo changes nothing", async () => {
  const { clock, informer, changes, server } = await stage([thing("a", 5, { data: "old" })]);
  seen(changes);
  informer.saw(thing("a", 110, { data: "ours" }), "us");
  assert.equal(informer.get("default/a")?.data, "ours");
  assert.equal(changes[0]?.writer, "us");
  assert.deepEqual(seen(changes), ["changed default/a 110"]);
  server.send("MODIFIED", thing("a", 110, { data: "ours" }));
  await clock.advance(1);
  assert.deepEqual(seen(changes), []);
});

test("an event from before our own write does not undo it", async () => {
  const { clock, informer, server } = await stage([thing("a", 5)]);
  informer.saw(thing("a", 110, { data: "ours" }), "us");
  server.send("MODIFIED", thing("a", 105, { data: "theirs, earlier" }));
  await clock.advance(1);
  assert.equal(informer.get("default/a")?.data, "ours");
  server.send("MODIFIED", thing("a", 115, { data: "theirs, later" }));
  await clock.advance(1);
  assert.equal(informer.get("default/a")?.data, "theirs, later");
});

test("versions are compared as numbers of any length", async () => {
  const { informer } = await stage([thing("a", 99)]);
  informer.saw(thing("a", 0, { metadata: { name: "a", resourceVersion: "100000000000000000001" } }), "us");
  assert.equal(informer.get("default/a")?.metadata.resourceVersion, "100000000000000000001");
  informer.saw(thing("a", 0, { metadata: { name: "a", resourceVersion: "100000000000000000000" } }), "us");
  assert.equal(informer.get("default/a")?.metadata.resourceVersion, "100000000000000000001");
});

test("an object that we created is not lost to a listing that was made before", async () => {
  const { clock, informer, server, watches } = await stage([thing("a", 5)]);
  server.expire();
  await clock.advance(1000);
  informer.saw(thing("new", 250), "us");
  watches.at(-1)!.send("ADDED", thing("a", 5));
  watches.at(-1)!.synced(200);
  await clock.advance(1);
  assert.ok(informer.get("default/new"));
});

test("an object that we deleted does not come back by an older event", async () => {
  const { clock, informer, changes, server } = await stage([thing("a", 5)]);
  seen(changes);
  informer.missed("default/a", "uid-a", "us");
  assert.equal(informer.get("default/a"), undefined);
  server.send("MODIFIED", thing("a", 105));
  await clock.advance(1);
  assert.equal(informer.get("default/a"), undefined);
  server.send("DELETED", thing("a", 106));
  await clock.advance(1);
  assert.deepEqual(seen(changes), ["deleted default/a 5"]);
});

test("an object that is recreated under the same name is another one", async () => {
  const { clock, informer, server } = await stage([thing("a", 5)]);
  informer.missed("default/a", "uid-a", "us");
  informer.saw(thing("a", 120, { metadata: { name: "a", uid: "second" } }), "us");
  server.send("MODIFIED", thing("a", 105));
  server.send("DELETED", thing("a", 110));
  await clock.advance(1);
  assert.equal(informer.get("default/a")?.metadata.uid, "second");
});

test("answers that come out of order do not mix up two objects of the same name", async () => {
  const { clock, informer, server, watches } = await stage([thing("a", 5)]);
  informer.saw(thing("a", 120, { metadata: { name: "a", uid: "second" } }), "us");
  informer.missed("default/a", "uid-a", "us");
  server.expire();
  await clock.advance(1000);
  watches.at(-1)!.synced(110);
  await clock.advance(1);
  assert.equal(informer.get("default/a")?.metadata.uid, "second");
});

const labelled = (name: string, version: number, app: string) =>
  thing(name, version, { metadata: { name, labels: { app } } });

test("what we write outside the scope is never read, whatever the watch says of the time before", async () => {
  const { clock, informer, changes, server } = await stage([labelled("a", 5, "web")], { labelSelector: "app=web" });
  seen(changes);
  informer.saw(labelled("b", 110, "other"), "us");
  assert.deepEqual(seen(changes), []);
  informer.saw(labelled("a", 111, "other"), "us");
  assert.equal(informer.get("default/a"), undefined);
  assert.deepEqual(seen(changes), ["deleted default/a 111"]);
  server.send("MODIFIED", labelled("a", 105, "web"));
  server.send("ADDED", labelled("b", 106, "web"));
  await clock.advance(1);
  assert.deepEqual([...informer.keys()], []);
  server.send("DELETED", labelled("b", 110, "web"));
  server.send("DELETED", labelled("a", 111, "web"));
  server.send("ADDED", labelled("a", 112, "web"));
  await clock.advance(1);
  assert.deepEqual(seen(changes), ["added default/a 112"]);
});

test("answers that come out of order leave an object where the last write put it", async () => {
  const { informer } = await stage([labelled("a", 5, "web")], { labelSelector: "app in (web)" });
  informer.saw(labelled("a", 112, "other"), "us");
  informer.saw(labelled("a", 111, "web"), "us");
  assert.equal(informer.get("default/a"), undefined);
  informer.saw(labelled("a", 113, "web"), "us");
  assert.ok(informer.get("default/a"));
});

test("field selectors count as well, as far as an object tells", async () => {
  const onNode = (name: string, version: number, spec: object, status: object = {}) =>
    thing(name, version, { kind: "Pod", spec, status });
  const { informer } = await stage([onNode("known", 5, { nodeName: "n" }, { podIPs: [{ ip: "1" }] })], {
    fieldSelector: "spec.nodeName=n,metadata.namespace!=kube-system",
    kind: Pod as unknown as KindRef<AnyObject>,
  });
  informer.saw(onNode("here", 110, { nodeName: "n" }), "us");
  informer.saw(onNode("there", 111, { nodeName: "m" }), "us");
  informer.saw(onNode("nowhere", 112, {}), "us");
  assert.deepEqual([...informer.keys()], ["default/known", "default/here"]);
  const zero = await stage([], { fieldSelector: "spec.hostNetwork=false", kind: Pod as unknown as KindRef<AnyObject> });
  zero.informer.saw(onNode("plain", 110, {}), "us");
  zero.informer.saw(onNode("host", 111, { hostNetwork: true }), "us");
  assert.deepEqual([...zero.informer.keys()], ["default/plain"]);
  const untold = await stage([onNode("known", 5, {})], {
    fieldSelector: "status.podIPs=1.2.3.4",
    kind: Pod as unknown as KindRef<AnyObject>,
  });
  untold.informer.saw(onNode("known", 110, {}), "us");
  untold.informer.saw(onNode("new", 111, {}), "us");
  assert.deepEqual([...untold.informer.keys()], ["default/known"]);
});

test("selectors that no server would understand are refused at once", () => {
  const { client } = scriptedWatch(new VirtualClock());
  assert.throws(() => new Informer(client, Thing, { labelSelector: "a in b" }), /labelSelector "a in b" of Thing/);
  assert.throws(() => new Informer(client, Thing, { fieldSelector: "name" }), /fieldSelector "name" of Thing/);
});

test("an object that our write took out of a scope that only the server knows is released by the next bookmark", async () => {
  const { clock, informer, changes, server } = await stage([]);
  informer.saw(thing("a", 110), "us");
  seen(changes);
  server.bookmark(109);
  await clock.advance(1);
  assert.ok(informer.get("default/a"));
  server.bookmark(130);
  await clock.advance(1);
  assert.equal(informer.get("default/a"), undefined);
  assert.deepEqual(seen(changes), ["deleted default/a 110"]);
});

test("events about an object wait while we write it, and are then taken in their order", async () => {
  const { clock, informer, changes, server } = await stage([thing("a", 5), thing("b", 6)]);
  informer.saw(thing("a", 110), "us");
  seen(changes);
  const over = informer.expect("default/a");
  server.send("MODIFIED", thing("a", 110));
  server.send("MODIFIED", thing("a", 112, { data: "ours" }));
  server.send("MODIFIED", thing("b", 115));
  await clock.advance(1);
  // What is put off counts as shown: the first write is not taken for one that is out of scope.
  assert.deepEqual(seen(changes), ["changed default/b 115"]);
  informer.saw(thing("a", 112, { data: "ours" }), "us");
  over();
  assert.deepEqual(seen(changes), ["changed default/a 112"]);
  assert.ok(informer.get("default/a"));
});

test("an answer that the watch has overtaken is not news", async () => {
  const { clock, informer, server } = await stage([thing("a", 5)]);
  server.send("MODIFIED", thing("a", 110));
  server.send("DELETED", thing("a", 120));
  await clock.advance(1);
  informer.saw(thing("a", 110), "us");
  assert.equal(informer.get("default/a"), undefined);
});

test("its age grows while the server is silent", async () => {
  const { clock, informer, server } = await stage([]);
  await clock.advance(20_000);
  assert.ok(informer.age >= 20_000);
  server.bookmark(101);
  await clock.advance(1);
  assert.ok(informer.age < 10);
});

test("a projection decides what is kept", async () => {
  const { informer } = await stage([thing("a", 5, { spec: { big: "x".repeat(1000), small: 1 } })], {
    project: ({ apiVersion, kind, metadata, spec }) => ({
      apiVersion,
      kind,
      metadata,
      spec: { small: (spec as { small: number }).small },
    }),
  });
  assert.deepEqual(informer.get("default/a")?.spec, { small: 1 });
  assert.ok(informer.bytes < 300);
});
