import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { dashboardFetch } from "./dashboard-fetch.ts";

/** How Ray's dashboards know a browser, which they let read only. */
const isBrowser = ({ headers }: IncomingMessage) =>
  headers["user-agent"]?.startsWith("Mozilla") ||
  Object.keys(headers).some((name) => /^(sec-fetch-.*|origin|referer|access-control-.*)$/.test(name));

function* endless() {
  for (;;) yield Buffer.alloc(2 ** 20);
}

let server: Server;
let url: string;

before(async () => {
  server = createServer(async (incoming, outgoing) => {
    if (incoming.url === "/silent") return;
    if (incoming.method === "PUT" && isBrowser(incoming)) outgoing.statusCode = 405;
    if (incoming.url === "/empty") outgoing.statusCode = 204;
    if (incoming.url === "/odd") outgoing.statusCode = 999;
    if (incoming.url === "/endless") return void pipeline(endless(), outgoing, () => {});
    outgoing.end(`${incoming.headers["content-type"]} ${await text(incoming)}`);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(() => {
  server.closeAllConnections();
  server.close();
});

test("a dashboard does not take the operator for a browser, and accepts what it sends", async () => {
  const headers = { "content-type": "application/json" };
  const response = await dashboardFetch(`${url}/api/serve/applications/`, { method: "PUT", headers, body: "{}" });
  assert.deepEqual([response.status, await response.text()], [200, "application/json {}"]);
});

test("a response without content is one", async () => {
  const response = await dashboardFetch(`${url}/empty`, {});
  assert.deepEqual([response.status, response.ok, await response.text()], [204, true, ""]);
});

test("a dashboard that is not there, or is not waited for any longer, is an error", async () => {
  await assert.rejects(dashboardFetch("http://127.0.0.1:9/", {}), /ECONNREFUSED 127\.0\.0\.1:9/);
  const over = new AbortController();
  const answer = dashboardFetch(`${url}/silent`, { signal: over.signal });
  over.abort();
  await assert.rejects(answer, { name: "AbortError" });
});

test("an answer that is none, or has no end, is an error of its request alone", async () => {
  await assert.rejects(dashboardFetch(`${url}/odd`, {}), /999|status/);
  await assert.rejects(dashboardFetch(`${url}/endless`, {}), /the answer has more than 10 MiB/);
});
