import assert from "node:assert/strict";
import type { Duplex } from "node:stream";
import { test } from "node:test";
import { Listeners } from "./listeners.ts";

function connected(): { client: Duplex; server: Duplex } {
  const listeners = new Listeners();
  let server: Duplex | undefined;
  listeners.listen("uid", 80, (connection) => {
    server = connection;
  });
  const client = listeners.connect("uid", 80, "10.0.0.1");
  assert.ok(client && server);
  return { client, server };
}

test("what a server sent before it closed the connection is read, then comes the end", async () => {
  const { client, server } = connected();
  const read = client.toArray();
  server.write("HTTP/1.1 400 Bad Request\r\n\r\n");
  server.destroy(new Error("not HTTP"));
  assert.equal(Buffer.concat(await read).toString(), "HTTP/1.1 400 Bad Request\r\n\r\n");
  assert.ok(client.destroyed);
});

test("a server learns that the client has closed the connection", async () => {
  const { client, server } = connected();
  const read = server.toArray();
  client.destroy();
  assert.deepEqual(await read, []);
});

test("an end that only writes is closed with the other", async () => {
  const { client, server } = connected();
  while (client.write("x".repeat(1024)));
  const closed = new Promise((resolve) => client.once("close", resolve));
  server.destroy();
  await closed;
});
