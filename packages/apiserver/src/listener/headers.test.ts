import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { test } from "node:test";
import { connect as connectTls } from "node:tls";
import { headerValues } from "@konverge/core";
import { authority, tls } from "../../test/clients.ts";
import { headersOf, type Incoming, MOST_HEADERS } from "./incoming.ts";
import { listen } from "./listen.ts";

const incoming = (pairs: readonly (readonly [string, string])[]) => ({ rawHeaders: pairs.flat() }) as Incoming;
const repeated = (count: number, name = "x", value = "") => Array.from({ length: count }, () => [name, value] as const);

// Joining them by repeated copying takes quadratic time: minutes for this many.
test("a header that is repeated many times is read in linear time", { timeout: 20_000 }, () => {
  const headers = headersOf(incoming(repeated(31_000)));
  assert.equal(headerValues(headers, "x").length, 31_000);
  for (let i = 0; i < 20; i++) headersOf(incoming(repeated(31_000)));
});

test("headers have every value in order, whatever case their names have", () => {
  const headers = headersOf(
    incoming([
      ["A", "1"],
      ["b", "2"],
      ["a", "3"],
      [":authority", "here"],
      [":path", "/"],
    ]),
  );
  assert.deepEqual({ ...headers }, { a: ["1", "3"], b: "2", host: "here" });
});

test("a request is for one host", () => {
  const hosts = (...pairs: [string, string][]) => headersOf(incoming(pairs))["host"];
  assert.equal(hosts([":authority", "here"], ["host", "here"]), "here");
  assert.throws(() => hosts(["host", "here"], ["Host", "there"]), /too many Host headers/);
});

test("headers with names that every object has are headers like others", () => {
  const headers = headersOf(
    incoming([
      ["constructor", "a"],
      ["__proto__", "b"],
      ["tostring", "c"],
    ]),
  );
  assert.deepEqual(Object.entries(headers), [
    ["constructor", "a"],
    ["__proto__", "b"],
    ["tostring", "c"],
  ]);
});

test("headers of more than a mebibyte, counting 32 bytes more for each, are refused with 431", async () => {
  assert.equal(
    headerValues(headersOf(incoming(repeated(MOST_HEADERS / 2, "x".repeat(32)))), "x".repeat(32)).length,
    16_384,
  );
  assert.throws(() => headersOf(incoming(repeated(MOST_HEADERS / 2 + 1, "x".repeat(32)))), {
    name: "ApiError",
    code: 431,
  });
  await using listener = await listen(async () => ({ status: 200, headers: {}, body: "" }), { tls });
  for (const [protocol, count, status] of [
    ["http/1.1", 16_000, 200],
    ["http/1.1", 40_000, 431],
    ["h2", 16_000, 200],
    ["h2", 32_000, 431],
  ] as const) {
    const ask = protocol === "h2" ? statusOverHttp2 : statusOverHttp1;
    assert.equal(await ask(listener.port, repeated(count, "x", "1234")), status, `${protocol} ${count}`);
  }
});

async function statusOverHttp1(port: number, headers: readonly (readonly [string, string])[]): Promise<number> {
  const options = { port, host: "127.0.0.1", ca: authority.cert, servername: "localhost" };
  const socket = connectTls({ ...options, ALPNProtocols: ["http/1.1"] }).on("error", () => {});
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n${lines.join("")}\r\n`);
  const [answer] = (await once(socket, "data")) as [Buffer];
  socket.destroy();
  return Number(/^HTTP\/1\.1 (\d+)/.exec(answer.toString())?.[1]);
}

async function statusOverHttp2(port: number, headers: readonly (readonly [string, string])[]): Promise<number> {
  const session = connectHttp2(`https://localhost:${port}`, {
    ca: authority.cert,
    maxSendHeaderBlockLength: 4 * 1024 * 1024,
  } as object);
  const stream = session.request({ ":path": "/", x: headers.map(([, value]) => value) });
  const [head] = (await once(stream, "response")) as [{ ":status": number }];
  session.destroy();
  return head[":status"];
}
