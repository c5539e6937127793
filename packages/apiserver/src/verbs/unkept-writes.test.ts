import assert from "node:assert/strict";
import { test } from "node:test";
import { readText, realClock } from "@konverge/core";
import { ApiServer } from "../server.ts";
import type { Journal } from "../storage/journal.ts";

/** A server whose disk can be full. */
function setup() {
  const journal: Journal & { isFull: boolean } = {
    isFull: false,
    load: () => undefined,
    append() {
      if (journal.isFull) throw new Error("the disk is full");
    },
    compact() {},
    replace() {},
    close() {},
  };
  const server = new ApiServer({ clock: realClock(), journal });
  const ask = async (method: string, name: string, body?: object) => {
    const base = "/api/v1/namespaces/default/configmaps";
    const path = method === "POST" ? base : `${base}/${name}`;
    const headers = { "content-type": "application/json" };
    const metadata = { name };
    const answer = await server.transport({
      method,
      path,
      headers,
      ...(body && {
        body: JSON.stringify({ ...body, metadata: { ...metadata, ...(body as { metadata?: object }).metadata } }),
      }),
    });
    const text = await readText(answer.body);
    return { status: answer.status, body: JSON.parse(text) as { metadata: { resourceVersion: string } } };
  };
  return { server, journal, ask };
}

test("no answer is due to a write that the disk does not take: neither a conflict, nor that something exists or does not", async () => {
  const { server, journal, ask } = setup();
  const created = await ask("POST", "a", { data: { x: "1" } });
  assert.equal(created.status, 201);
  const metadata = { resourceVersion: created.body.metadata.resourceVersion };
  journal.isFull = true;
  const statuses = async (...answers: ReturnType<typeof ask>[]) =>
    (await Promise.all(answers)).map(({ status }) => status);
  // Each pair comes in one turn of the event loop, so that the second meets what the first has written.
  assert.deepEqual(
    await statuses(ask("PUT", "a", { metadata, data: { x: "2" } }), ask("PUT", "a", { metadata, data: { x: "3" } })),
    [500, 500],
  );
  assert.deepEqual(await statuses(ask("POST", "b", {}), ask("POST", "b", {})), [500, 500]);
  // A read may come before the deletion.
  assert.ok(!(await statuses(ask("DELETE", "a"), ask("GET", "a"))).includes(404));
  assert.deepEqual(await statuses(ask("DELETE", "a"), ask("DELETE", "a")), [500, 500]);
  journal.isFull = false;
  assert.equal((await ask("PUT", "a", { metadata, data: { x: "4" } })).status, 200);
  assert.equal((await ask("GET", "b")).status, 404);
  server.close();
});
