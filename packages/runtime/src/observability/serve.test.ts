import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { serveHttp } from "./serve.ts";

// The server's own limit to such a connection is a minute.
test("a connection that never carried a request does not hold up the end", { timeout: 30_000 }, async () => {
  const serving = await serveHttp(async () => ({ status: 200, headers: {}, body: "" }), { port: 0, host: "127.0.0.1" });
  const socket = connect(serving.port, "127.0.0.1");
  await once(socket, "connect");
  // One answer from the server, so that it surely knows of the connection that was there first.
  await (await fetch(`http://127.0.0.1:${serving.port}/`)).text();
  const closed = once(socket, "close");
  await serving.close();
  await closed;
});

test("a request in progress is answered before the server closes", async () => {
  const begun = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const serving = await serveHttp(
    async () => {
      begun.resolve();
      await goOn.promise;
      return { status: 200, headers: {}, body: "done" };
    },
    { port: 0, host: "127.0.0.1" },
  );
  const answer = fetch(`http://127.0.0.1:${serving.port}/`);
  await begun.promise;
  const closed = serving.close();
  goOn.resolve();
  assert.equal(await (await answer).text(), "done");
  await closed;
});
