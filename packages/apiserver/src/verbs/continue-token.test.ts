import assert from "node:assert/strict";
import { test } from "node:test";
import { readText, VirtualClock } from "@konverge/core";
import { ApiServer } from "../server.ts";

test("a continue token expires after five minutes, also where nothing is written, and comes with one for the rest", async () => {
  const clock = new VirtualClock();
  const server = new ApiServer({ clock });
  const get = async (query: string) => {
    const path = `/apis/scheduling.k8s.io/v1/priorityclasses?limit=1${query}`;
    const answer = await server.transport({ method: "GET", path, headers: {} });
    return { status: answer.status, body: JSON.parse(await readText(answer.body)) };
  };
  const { metadata, items } = (await get("")).body;
  await clock.advance(290_000);
  assert.equal((await get(`&continue=${metadata.continue}`)).status, 200);
  await clock.advance(20_000);
  const { status, body } = await get(`&continue=${metadata.continue}`);
  assert.equal(status, 410);
  assert.equal(body.reason, "Expired");
  assert.match(body.message, /^The provided continue parameter is too old to display a consistent list result\./);
  const rest = await get(`&continue=${body.metadata.continue}`);
  assert.equal(rest.status, 200);
  assert.notEqual(rest.body.items[0].metadata.name, items[0].metadata.name);
  assert.notEqual(rest.body.metadata.resourceVersion, metadata.resourceVersion);
});
