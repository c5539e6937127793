import assert from "node:assert/strict";
import { test } from "node:test";
import { type AnyObject, parseJson, readText, VirtualClock } from "@konverge/core";
import { ApiServer } from "../index.ts";

const PATH = "/api/v1/namespaces/default/events";
const headers = { "content-type": "application/json" };

function stage(options: { eventTtl?: number } = {}) {
  const clock = new VirtualClock();
  const server = new ApiServer({ clock, ...options });
  const send = async (method: string, path: string, body?: object) => {
    const { status, body: text } = await server.transport({
      method,
      path,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status, object: parseJson(await readText(text)) as AnyObject & { items?: AnyObject[] } };
  };
  const createEvent = (name: string) =>
    send("POST", PATH, {
      metadata: { name, namespace: "default" },
      involvedObject: { kind: "Pod", namespace: "default", name: "a" },
      reason: "Tried",
    });
  const names = async () => (await send("GET", PATH)).object.items!.map(({ metadata }) => metadata.name);
  return { clock, server, send, createEvent, names };
}

test("an Event goes an hour after it was last written, and watchers see it go", async () => {
  const { clock, server, send, createEvent, names } = stage();
  await createEvent("old");
  await clock.advance(30 * 60_000);
  await createEvent("kept");
  await clock.advance(20 * 60_000);
  const patch = { method: "PATCH", path: `${PATH}/kept`, headers: { "content-type": "application/merge-patch+json" } };
  assert.equal((await server.transport({ ...patch, body: '{"count":2}' })).status, 200);
  await clock.advance(11 * 60_000);
  assert.deepEqual(await names(), ["kept"]);
  assert.equal((await send("GET", `${PATH}/old`)).status, 404);
  await clock.advance(45 * 60_000);
  assert.deepEqual(await names(), ["kept"], "a write gives it another hour");
  const before = server.store.revision;
  await clock.advance(5 * 60_000);
  assert.deepEqual(await names(), []);
  const changes = server.store.collection("/events").changesAfter(before) ?? [];
  assert.deepEqual(
    changes.map(({ key, deleted }) => [key, deleted]),
    [["default/kept", true]],
    "watchers see it go",
  );
  server.close();
});

test("Events of an earlier state have all their time before them", async () => {
  const { clock, server, createEvent } = stage();
  await createEvent("old");
  await clock.advance(50 * 60_000);
  const later = new ApiServer({ clock, state: server.snapshot() });
  server.close();
  const list = async () => {
    const { body } = await later.transport({ method: "GET", path: PATH, headers: {} });
    return (parseJson(await readText(body)) as unknown as { items: AnyObject[] }).items.length;
  };
  await clock.advance(50 * 60_000);
  assert.equal(await list(), 1);
  await clock.advance(11 * 60_000);
  assert.equal(await list(), 0);
  later.close();
});
