import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { probeCommand } from "./probe.ts";

test("a probe succeeds if the server does, and otherwise fails with the reason", async () => {
  const server = createServer((request, response) => {
    response.statusCode = request.url === "/readyz" ? 200 : 503;
    response.setHeader("connection", "close");
    response.end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const probe = (url: string) => probeCommand().parseAsync([url], { from: "user" });
  await probe(`${origin}/readyz`);
  await assert.rejects(probe(`${origin}/other`), /\/other answers 503 Service Unavailable/);
  server.close();
  await once(server, "close");
  await assert.rejects(probe(`${origin}/readyz`), /does not answer: connect ECONNREFUSED/);
});
