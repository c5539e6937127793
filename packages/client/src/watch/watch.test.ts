import assert from "node:assert/strict";
import { test } from "node:test";
import { type ApiRequest, VirtualClock } from "@konverge/core";
import {
  added,
  bookmark,
  changed,
  compacted,
  deleted,
  events,
  failure,
  list,
  type Step,
  scripted,
  silence,
  stream,
  Widget,
  widget,
} from "../../test/scripted-server.ts";
import { Client } from "../client.ts";
import type { WatchEvent, WatchOptions } from "./watch.ts";

/** Plays the steps to a watch and collects what it says, for as long as anything happens within `ms`. */
async function play(steps: Step[], options: WatchOptions = {}, ms = 3_600_000) {
  const clock = new VirtualClock();
  const { transport, requests } = scripted(...steps, silence);
  const client = new Client(transport, { clock, retry: false, timeout: Number.POSITIVE_INFINITY });
  const end = new AbortController();
  const watch = client.watch(Widget, { ...options, signal: end.signal });
  const observed: WatchEvent<Widget>[] = [];
  let thrown: unknown;
  const done = (async () => {
    for await (const event of watch) observed.push(event);
  })().catch((error: unknown) => {
    thrown = error;
  });
  await clock.advance(ms);
  const age = watch.age;
  const { resourceVersion } = watch;
  end.abort();
  await done;
  return { observed, said: observed.map(words), queries: requests.map(query), requests, age, resourceVersion, thrown };
}

function words(event: WatchEvent<Widget>): string {
  if ("object" in event) return `${event.type} ${event.object.metadata.name}@${event.object.metadata.resourceVersion}`;
  if ("resourceVersion" in event) return `${event.type} ${event.resourceVersion}`;
  return event.type === "ERROR" ? `ERROR ${event.error.name}` : event.type;
}

function query({ path }: ApiRequest): Record<string, string> {
  const parameters = Object.fromEntries(new URL(path, "http://x").searchParams);
  delete parameters.timeoutSeconds;
  return parameters;
}

const streamed = { watch: "true", allowWatchBookmarks: "true" };
const listing = { ...streamed, sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan", resourceVersion: "" };
const from = (resourceVersion: string) => ({ ...streamed, resourceVersion });

test("one stream lists and then follows", async () => {
  const { said, queries, resourceVersion } = await play([
    events(
      [
        added(widget("a", "3")),
        added(widget("b", "2")),
        bookmark("5", true),
        changed(widget("a", "6")),
        bookmark("7"),
        deleted(widget("b", "8")),
      ],
      "silence",
    ),
  ]);
  assert.deepEqual(said.slice(0, 7), [
    "RESET",
    "ADDED a@3",
    "ADDED b@2",
    "SYNCED 5",
    "MODIFIED a@6",
    "BOOKMARK 7",
    "DELETED b@8",
  ]);
  assert.deepEqual(queries[0], listing);
  assert.equal(resourceVersion, "8");
});

test("changes that arrive before the listing is complete are reported as they come", async () => {
  const { said } = await play([
    events([added(widget("a", "1")), deleted(widget("a", "2")), changed(widget("b", "3")), bookmark("3", true)]),
  ]);
  assert.deepEqual(said, ["RESET", "ADDED a@1", "DELETED a@2", "MODIFIED b@3", "SYNCED 3"]);
});

test("a server that refuses such a stream is asked for pages, and not again for a stream", async () => {
  const { said, queries } = await play(
    [
      failure(422, "Invalid", "sendInitialEvents is forbidden"),
      list("4", [widget("a", "1")], "page2"),
      list("4", [widget("b", "2")]),
      events([compacted()]),
      list("9", []),
    ],
    { pageSize: 1 },
  );
  assert.deepEqual(said, ["RESET", "ADDED a@1", "ADDED b@2", "SYNCED 4", "RESET", "SYNCED 9"]);
  assert.deepEqual(queries, [
    listing,
    { limit: "1" },
    { limit: "1", continue: "page2" },
    from("4"),
    { limit: "1" },
    from("9"),
  ]);
});

test("a server that ignores the request for initial events is listed in pages after a while", async () => {
  const { said, queries } = await play(
    [events([added(widget("a", "1"))], "silence"), list("4", [widget("a", "1")]), events([], "silence")],
    {},
    60_000,
  );
  assert.deepEqual(said, ["RESET", "ADDED a@1", "RESET", "ADDED a@1", "SYNCED 4"]);
  assert.deepEqual(queries.slice(1), [{ limit: "500" }, from("4")]);
});

test("a stream that ends is followed by another from where it stopped", async () => {
  const { said, queries } = await play([
    events([bookmark("5", true), added(widget("a", "6"))]),
    events([bookmark("9")]),
  ]);
  assert.deepEqual(said, ["RESET", "SYNCED 5", "ADDED a@6", "BOOKMARK 9"]);
  assert.deepEqual(queries.slice(1), [from("6"), from("9")]);
});

test("a stream that breaks reports an error and resumes after the last complete event", async () => {
  const half = JSON.stringify(changed(widget("a", "7"))).slice(0, 40);
  const { said, queries } = await play([
    stream([`${JSON.stringify(bookmark("5", true))}\n${JSON.stringify(added(widget("a", "6")))}\n${half}`], "break"),
    stream([half]),
    events([changed(widget("a", "7"))]),
  ]);
  assert.deepEqual(said, [
    "RESET",
    "SYNCED 5",
    "ADDED a@6",
    "ERROR TransportError",
    "ERROR TransportError",
    "MODIFIED a@7",
  ]);
  assert.deepEqual(queries.slice(1), [from("6"), from("6"), from("7")]);
});

test("an event split anywhere, even inside a character, is put together again", async () => {
  const bytes = Buffer.from(`${JSON.stringify(bookmark("5", true))}\n${JSON.stringify(added(widget("ü", "6")))}\n`);
  const { said } = await play([stream([...bytes].map((byte) => Uint8Array.of(byte)))]);
  assert.deepEqual(said, ["RESET", "SYNCED 5", "ADDED ü@6"]);
});

test("an expired version leads to a new listing, whether the error is in the stream or a status", async () => {
  const { said, queries } = await play([
    events([added(widget("a", "1")), bookmark("5", true), compacted()]),
    events([added(widget("b", "8")), bookmark("9", true)]),
    failure(410, "Gone"),
    events([bookmark("12", true)]),
  ]);
  assert.deepEqual(said, ["RESET", "ADDED a@1", "SYNCED 5", "RESET", "ADDED b@8", "SYNCED 9", "RESET", "SYNCED 12"]);
  assert.deepEqual(queries, [listing, listing, from("9"), listing, from("12")]);
});

test("a listing that breaks half-way is begun again, and never called complete", async () => {
  const { said } = await play([
    events([added(widget("a", "1"))], "break"),
    events([added(widget("b", "2"))], "end"),
    events([added(widget("c", "3")), bookmark("3", true)]),
  ]);
  assert.deepEqual(said, [
    "RESET",
    "ADDED a@1",
    "ERROR TransportError",
    "RESET",
    "ADDED b@2",
    "ERROR TransportError",
    "RESET",
    "ADDED c@3",
    "SYNCED 3",
  ]);
});

test("pages that expire are followed by a listing in one piece", async () => {
  const { said, queries } = await play(
    [list("4", [widget("a", "1")], "page2"), failure(410, "Expired"), list("9", [widget("a", "1"), widget("b", "2")])],
    { listing: "pages" },
  );
  assert.deepEqual(said, ["RESET", "ADDED a@1", "RESET", "ADDED a@1", "ADDED b@2", "SYNCED 9"]);
  assert.deepEqual(queries.slice(0, 3), [{ limit: "500" }, { limit: "500", continue: "page2" }, {}]);
});

test("a connection that falls silent is replaced; one that lives is not", async () => {
  const { said, queries, requests } = await play(
    [events([bookmark("5", true)], "silence"), events([bookmark("6")], "silence")],
    {},
    130_000,
  );
  assert.deepEqual(said, ["RESET", "SYNCED 5", "ERROR TransportError", "BOOKMARK 6"]);
  assert.deepEqual(queries.slice(1), [from("5")]);
  assert.deepEqual(
    requests.map(({ signal }) => signal?.aborted),
    [true, true],
    "the first was given up, the second ended by the test",
  );
});

test("silence is judged more mildly once the listing is complete", async () => {
  const quiet = [events([bookmark("5", true)], "silence")];
  assert.deepEqual((await play(quiet, {}, 119_000)).said, ["RESET", "SYNCED 5"]);
  assert.deepEqual((await play(quiet, {}, 121_000)).said, ["RESET", "SYNCED 5", "ERROR TransportError"]);
  assert.deepEqual((await play(quiet, { inactivity: 5000 }, 6000)).said, ["RESET", "SYNCED 5", "ERROR TransportError"]);
});

test("a slow consumer is not mistaken for a silent server", async () => {
  const clock = new VirtualClock();
  const { transport, requests } = scripted(
    events([bookmark("5", true), added(widget("a", "6")), added(widget("b", "7"))], "silence"),
  );
  const end = new AbortController();
  const watch = new Client(transport, { clock }).watch(Widget, { signal: end.signal, inactivity: 1000 });
  const said: string[] = [];
  const done = (async () => {
    for await (const event of watch) {
      said.push(words(event));
      if ("object" in event) await new Promise<void>((resolve) => clock.after(60_000, resolve));
    }
  })();
  await clock.advance(120_500);
  end.abort();
  await done;
  assert.deepEqual(said, ["RESET", "SYNCED 5", "ADDED a@6", "ADDED b@7"]);
  assert.equal(requests.length, 1);
});

test("the age is the time since the server last said anything", async () => {
  const { age } = await play([events([bookmark("5", true)], "silence")], {}, 42_000);
  assert.equal(age, 42_000);
});

test("what may be allowed or installed later is tried again, ever more slowly, and every failure is reported", async () => {
  const { observed } = await play([
    failure(403, "Forbidden"),
    failure(404, "NotFound"),
    failure(401, "Unauthorized"),
    failure(500, "InternalError"),
    events([bookmark("5", true)]),
  ]);
  const waits = observed.flatMap((event) => (event.type === "ERROR" ? [event.retryIn] : []));
  assert.equal(waits.length, 4);
  waits.forEach((wait, i) => {
    assert.ok(wait >= 250 * 2 ** i && wait <= 500 * 2 ** i, `wait ${i} is ${wait} ms`);
  });
  assert.deepEqual(observed.at(-1), { type: "SYNCED", resourceVersion: "5" });
});

test("Retry-After of a server is respected", async () => {
  const { observed } = await play([failure(429, "TooManyRequests", "slow down", { "retry-after": "20" })], {}, 25_000);
  assert.equal(observed[0]?.type === "ERROR" && observed[0].retryIn, 20_000);
});

test("streams that end at once are not asked for in a hot loop", async () => {
  const { requests } = await play(
    [events([bookmark("5", true)]), ...Array.from({ length: 20 }, () => events([]))],
    {},
    10_000,
  );
  assert.ok(requests.length > 3 && requests.length < 10, `${requests.length} requests in 10 s`);
});

test("a server that forgets every version at once is not asked in a hot loop", async () => {
  const again = [events([bookmark("5", true), compacted()])];
  const { requests } = await play(Array.from({ length: 40 }, () => again).flat(), {}, 10_000);
  assert.ok(requests.length > 3 && requests.length < 12, `${requests.length} requests in 10 s`);
});

test("a selector that cannot be parsed ends the watch with the server's words", async () => {
  const refused = failure(400, "BadRequest", "unable to parse requirement");
  const { thrown, said } = await play([refused, refused], { labelSelector: "a b" });
  assert.match(String(thrown), /unable to parse requirement/);
  assert.deepEqual(said, []);
});

test("a watch from a known version begins without a listing", async () => {
  const { said, queries } = await play([events([added(widget("a", "6"))], "silence")], {
    resourceVersion: "5",
    labelSelector: "x=y",
    namespace: "n",
  });
  assert.equal(said[0], "ADDED a@6");
  assert.deepEqual(queries[0], { ...from("5"), labelSelector: "x=y" });
});

test("an abort ends the iteration at once, also during a wait", async () => {
  const clock = new VirtualClock();
  const end = new AbortController();
  const { transport } = scripted(failure(500, "InternalError"));
  const watch = new Client(transport, { clock }).watch(Widget, { signal: end.signal });
  const observed: string[] = [];
  const done = (async () => {
    for await (const event of watch) observed.push(event.type);
  })();
  await clock.advance(100);
  end.abort();
  await done;
  assert.deepEqual(observed, ["ERROR"]);
});
