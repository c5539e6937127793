import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import { dial, inGoWords } from "../streams/dial.ts";
import { secured } from "./server-tls.ts";

/** A server that answers every client with some bytes, and then ends the connection. */
async function speaking(bytes: string | undefined) {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => bytes !== undefined && socket.end(bytes));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return { port, [Symbol.dispose]: () => server.close() };
}

test("a server that does not speak TLS is reported in Go's words", async () => {
  for (const [bytes, words] of [
    ["HTTP/1.1 400 Bad Request\r\n\r\n", "tls: first record does not look like a TLS handshake"],
    ["", "EOF"],
  ] as const) {
    using server = await speaking(bytes);
    const connection = await dial("127.0.0.1", server.port);
    const error = await secured(connection, { host: "127.0.0.1", roots: "any" }).catch((cause: unknown) => cause);
    assert.equal(inGoWords(error, "127.0.0.1"), words);
    assert.ok(connection.destroyed);
  }
});

test("a handshake that does not come to an end is abandoned with the request", async () => {
  using server = await speaking(undefined);
  const abort = new AbortController();
  const connection = await dial("127.0.0.1", server.port, abort.signal);
  const handshake = secured(connection, { host: "127.0.0.1", roots: "any" }, abort.signal);
  abort.abort();
  await assert.rejects(handshake, { name: "AbortError" });
  assert.ok(connection.destroyed);
});

test("a port without a listener is reported in Go's words", async () => {
  const { port, [Symbol.dispose]: close } = await speaking("");
  close();
  const error = await dial("127.0.0.1", port).catch((cause: unknown) => cause);
  assert.equal(inGoWords(error, "127.0.0.1"), `dial tcp 127.0.0.1:${port}: connect: connection refused`);
});
