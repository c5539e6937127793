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

/** Sends a request but for the last byte of its body. */
function beginRequest(port: number, bytes: number, address = "127.0.0.1") {
  const socket = connect({ port, host: "127.0.0.1", localAddress: address });
  socket.on("error", () => {});
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${bytes}\r\n\r\n`);
  socket.write(Buffer.alloc(bytes - 1));
  const status = once(socket, "data").then(([text]) => String(text).slice(9, 12));
  return { status, complete: () => void socket.write("x"), end: () => void socket.destroy() };
}

/** Begins one request from each address, completes them once as many as given were refused, and counts the statuses. */
async function sendFrom(port: number, addresses: readonly string[], refusals: number): Promise<Record<string, number>> {
  const requests = addresses.map((address) => beginRequest(port, 60_000, address));
  let left = refusals;
  const refused = Promise.withResolvers<void>();
  for (const { status } of requests) void status.then(() => --left === 0 && refused.resolve());
  await refused.promise;
  for (const request of requests) request.complete();
  const statuses = await Promise.all(requests.map(({ status }) => status));
  for (const request of requests) request.end();
  return Object.fromEntries(["200", "503"].map((each) => [each, statuses.filter((status) => status === each).length]));
}

const empty = async () => ({ status: 200, headers: {}, body: "" });

test("bodies that are under way fill no more memory than all may, and of one address a quarter of it", {
  timeout: 60_000,
}, async () => {
  const options = { port: 0, host: "127.0.0.1", largestBody: 100_000, allBodies: 400_000 };
  await using serving = await serveHttp(empty, options);
  const addresses = [1, 2, 3, 4, 5, 6, 7, 8].map((last) => `127.0.0.${last}`);
  // What requests held is there again once they have ended: it works as often as it is tried.
  for (let round = 0; round < 3; round++) {
    assert.deepEqual(await sendFrom(serving.port, addresses, 2), { 200: 6, 503: 2 });
    assert.deepEqual(await sendFrom(serving.port, ["127.0.0.1", "127.0.0.1"], 1), { 200: 1, 503: 1 });
  }
});

test("a body that is too large is refused before it has come", {
  timeout: 60_000,
}, async () => {
  for (const largestBody of [undefined, 1000]) {
    await using serving = await serveHttp(empty, { port: 0, host: "127.0.0.1", ...(largestBody && { largestBody }) });
    const request = beginRequest(serving.port, 80_000);
    assert.equal(await request.status, "413");
    request.end();
  }
});
