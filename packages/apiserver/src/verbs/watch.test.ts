import assert from "node:assert/strict";
import { test } from "node:test";
import { type ApiResponse, readText, VirtualClock } from "@konverge/core";
import { ApiServer, type ApiServerOptions } from "../server.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";

interface Event {
  type: string;
  object: { metadata: { name: string; resourceVersion: string; annotations?: Record<string, string> }; code?: number };
}

function stage(options: ApiServerOptions = {}) {
  const clock = new VirtualClock();
  const server = new ApiServer({ clock, ...options });
  const send = async (method: string, path: string, body?: object) => {
    const headers = { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await server.transport({ method, path, headers, ...sent });
    return JSON.parse(await readText(response.body));
  };
  const create = (name: string, labels: Record<string, string> = {}) =>
    send("POST", MAPS, { metadata: { name, labels } });
  const watch = async (query: string) => {
    const response = await server.transport({ method: "GET", path: `${MAPS}?watch=true&${query}`, headers: {} });
    return reader(response);
  };
  return { clock, server, send, create, watch };
}

/** Takes one event at a time, so that a test decides what happens between two. */
function reader({ body }: ApiResponse) {
  const lines = (body as AsyncIterable<string>)[Symbol.asyncIterator]();
  return {
    async next(): Promise<Event> {
      const { value, done } = await lines.next();
      assert.ok(!done, "the watch has ended");
      return JSON.parse(value) as Event;
    },
    async ended(): Promise<boolean> {
      return (await lines.next()).done === true;
    },
  };
}

test("a bookmark never goes past a change that has not been sent", async () => {
  const { clock, create, watch } = stage();
  const { metadata } = await create("before");
  const events = await watch(`resourceVersion=${metadata.resourceVersion}&allowWatchBookmarks=true`);
  await create("a");
  await create("b");
  assert.equal((await events.next()).object.metadata.name, "a");
  // The watcher is slow: while it has not yet asked for the second event, there is a third, and time for a bookmark.
  const { metadata: third } = await create("c");
  await clock.advance(60_000);
  assert.equal((await events.next()).object.metadata.name, "b");
  const bookmark = await events.next();
  assert.equal(bookmark.type, "BOOKMARK");
  assert.ok(Number(bookmark.object.metadata.resourceVersion) < Number(third.resourceVersion));
  assert.equal((await events.next()).object.metadata.name, "c");
});

test("objects come into a selection as ADDED and leave it as DELETED, in their last selected state", async () => {
  const { create, send, watch } = stage();
  const { metadata } = await create("a");
  const events = await watch(`resourceVersion=${metadata.resourceVersion}&labelSelector=in%3Dyes`);
  await send("PATCH", `${MAPS}/a`, { metadata: { labels: { in: "yes" } } });
  await send("PATCH", `${MAPS}/a`, { metadata: { labels: { in: "no" } }, data: { k: "v" } });
  assert.equal((await events.next()).type, "ADDED");
  const left = await events.next();
  assert.equal(left.type, "DELETED");
  assert.deepEqual((left.object as unknown as { data?: object }).data, undefined);
});

test("initial events are followed by a bookmark that says so", async () => {
  const { create, watch } = stage();
  await create("a");
  await create("b");
  const query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
  const events = await watch(query);
  assert.deepEqual(
    [(await events.next()).object.metadata.name, (await events.next()).object.metadata.name],
    ["a", "b"],
  );
  const end = await events.next();
  assert.equal(end.type, "BOOKMARK");
  assert.equal(end.object.metadata.annotations?.["k8s.io/initial-events-end"], "true");
});

test("a watch whose position is compacted gets 410, and ends", async () => {
  const { server, create, watch } = stage();
  const { metadata } = await create("a");
  await create("b");
  server.store.compact(Number.POSITIVE_INFINITY);
  const events = await watch(`resourceVersion=${metadata.resourceVersion}`);
  const { type, object } = await events.next();
  assert.equal(type, "ERROR");
  assert.equal(object.code, 410);
  assert.ok(await events.ended());
});

test("a watch ends at its time-out", async () => {
  const { clock, create, watch } = stage();
  const { metadata } = await create("a");
  const events = await watch(`resourceVersion=${metadata.resourceVersion}&timeoutSeconds=5`);
  const ended = events.ended();
  await clock.advance(5_000);
  assert.ok(await ended);
});

test("a WebSocket carries the same events, one in each message", async () => {
  const { server, create } = stage();
  await create("a");
  const path = `${MAPS}?watch=true&resourceVersion=0`;
  const { status, socket } = await server.transport({ method: "GET", path, headers: {}, upgrade: [] });
  assert.equal(status, 101);
  const messages = socket!.messages[Symbol.asyncIterator]();
  const first = JSON.parse(String((await messages.next()).value)) as Event;
  assert.equal(first.type, "ADDED");
  assert.equal(first.object.metadata.name, "a");
  const ended = messages.next();
  socket!.close();
  assert.equal((await ended).done, true);
});
