import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect as connectTcp } from "node:net";
import { test } from "node:test";
import { connect as connectTls } from "node:tls";
import { type ApiRequest, type Transport, VirtualClock } from "@konverge/core";
import { authority, http1, http2, tls, turn, until } from "../../test/clients.ts";
import { listen } from "./listen.ts";

const MINUTE = 60_000;

/** A watch of which each event is about as large as an object can be. All watchers share its text. */
const large = `${"x".repeat(1024 * 1024)}\n`;
const largeEvents: Transport = async ({ signal }: ApiRequest) => {
  async function* events() {
    yield large;
    await new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve()));
  }
  return { status: 200, headers: {}, body: events() };
};

test("many watches of large objects share one connection, however little of them its client takes", async () => {
  await using listener = await listen(largeEvents, { tls });
  const session = connectHttp2(listener.url, { ca: authority.cert, settings: { initialWindowSize: 1 } });
  let isRejected = false;
  session.on("goaway", () => {
    isRejected = true;
  });
  session.on("error", () => {});
  const streams = Array.from({ length: 300 }, () => session.request({ ":path": "/watch" }));
  const refused: unknown[] = [];
  for (const stream of streams) stream.on("error", (error) => refused.push(error));
  await Promise.all(streams.map((stream) => once(stream, "response")));
  for (let i = 0; i < 20; i++) await turn();
  // There is room for yet another request.
  const other = session.request({ ":path": "/watch" });
  await once(other, "response");
  assert.deepEqual([isRejected, refused], [false, []]);
  session.destroy();
});

test("a watcher that does not read is ended after a minute, one that waits for events is not", async () => {
  for (const make of [http1, http2]) {
    const clock = new VirtualClock();
    let ended = 0;
    const transport: Transport = async ({ path, signal }) => {
      async function* events() {
        try {
          if (path === "/quiet")
            await new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve()));
          else for (;;) yield "x".repeat(64 * 1024);
        } finally {
          ended++;
        }
      }
      return { status: 200, headers: {}, body: events(), stallTimeout: MINUTE };
    };
    await using listener = await listen(transport, { tls, clock });
    const client = make(listener.url);
    const quiet = await client.begin({ path: "/quiet" });
    const stalled = await client.begin({ path: "/stalled" });
    stalled.on("error", () => {});
    stalled.pause();
    await until(() => clock.pending().length > 0);
    await clock.advance(MINUTE);
    await until(() => ended === 1);
    assert.equal(quiet.destroyed, false);
    client.close();
    await until(() => ended === 2);
  }
});

test("a document that many requests ask for and do not take is in memory once", async () => {
  const document = `${"é".repeat(2 * 1024 * 1024)}😀`;
  await using listener = await listen(async () => ({ status: 200, headers: {}, body: document }), { tls });
  const session = connectHttp2(listener.url, { ca: authority.cert, settings: { initialWindowSize: 1 } });
  session.on("error", () => {});
  const before = process.memoryUsage().arrayBuffers;
  const streams = Array.from({ length: 200 }, () => session.request({ ":path": "/" }));
  for (const stream of streams) stream.on("error", () => {});
  await Promise.all(streams.map((stream) => once(stream, "response")));
  for (let i = 0; i < 20; i++) await turn();
  const more = process.memoryUsage().arrayBuffers - before;
  assert.ok(more < 100 * Buffer.byteLength(document), `${more} bytes more`);
  session.destroy();
  const client = http2(listener.url);
  const { body, headers } = await client.ask({});
  assert.equal(body.toString(), document);
  assert.equal(Number(headers["content-length"]), body.length);
  client.close();
});

/** The bytes of a client that opens streams and never reads. */
function openingStreams(count: number): Buffer {
  const frame = (type: number, flags: number, stream: number, payload: Buffer) => {
    const head = Buffer.from([0, 0, payload.length, type, flags, 0, 0, 0, 0]);
    head.writeUInt32BE(stream, 5);
    return Buffer.concat([head, payload]);
  };
  const literal = (text: string) => Buffer.concat([Buffer.from([text.length]), Buffer.from(text)]);
  const fields = { ":method": "GET", ":scheme": "https", ":authority": "localhost", ":path": "/watch" };
  const head = Buffer.concat(
    Object.entries(fields).flatMap(([name, value]) => [Buffer.from([0]), literal(name), literal(value)]),
  );
  const streams = Array.from({ length: count }, (_, i) => frame(1, 5, 2 * i + 1, head));
  return Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(4, 0, 0, Buffer.alloc(0)), ...streams]);
}

test("a client that vanishes with many streams open, or no longer answers, is found by a ping; one that answers stays", async () => {
  let [open, ended] = [0, 0];
  const transport: Transport = async ({ signal }) => {
    open++;
    signal?.addEventListener("abort", () => ended++);
    return largeEvents({ signal } as ApiRequest);
  };
  await using listener = await listen(transport, { tls, silence: 200 });
  const client = http2(listener.url);
  let pings = 0;
  client.session.on("ping", () => pings++);
  const stream = client.begin({}).resume();
  await once(stream, "response");
  const connect = () => {
    const options = { port: listener.port, host: "127.0.0.1", ca: authority.cert, servername: "localhost" };
    return connectTls({ ...options, ALPNProtocols: ["h2"] }).on("error", () => {});
  };
  const deaf = connect().pause();
  deaf.write(openingStreams(1));
  await until(() => open === 2);
  const leaving = connect();
  leaving.write(openingStreams(1024));
  await until(() => open > 500);
  leaving.destroy();
  await until(() => open > 2 && ended === open - 1 && pings > 1);
  assert.deepEqual([stream.destroyed, client.session.destroyed], [false, false]);
  client.close();
  deaf.destroy();
});

test("an answer that is not taken does not wait forever", async () => {
  const clock = new VirtualClock();
  await using listener = await listen(
    async () => ({ status: 200, headers: {}, body: Buffer.alloc(64 * 1024 * 1024) }),
    {
      tls,
      clock,
    },
  );
  const client = http1(listener.url);
  const incoming = await client.begin({});
  incoming.pause();
  const broken = once(incoming, "error");
  await until(() => clock.pending().length > 0);
  await clock.advance(MINUTE);
  incoming.resume();
  assert.match(String((await broken)[0]), /aborted/);
  client.close();
});

test("a request whose body does not come is answered in the end, and its connection closed", async () => {
  for (const make of [http1, http2]) {
    const clock = new VirtualClock();
    await using listener = await listen(async () => assert.fail("it has no body yet"), { tls, clock });
    const client = make(listener.url);
    const [request, response] =
      "session" in client
        ? [client.session.request({ ":method": "POST", ":path": "/" }), undefined]
        : [client.open({ method: "POST", headers: { "content-length": "100" } }), undefined];
    assert.equal(response, undefined);
    request.write("a");
    const answered = once(request, "response");
    await until(() => clock.pending().length > 0);
    await clock.advance(MINUTE);
    const [head] = (await answered) as [{ statusCode?: number; ":status"?: number }];
    assert.equal(head.statusCode ?? head[":status"], 504);
    request.on("error", () => {});
    client.close();
  }
});

test("bodies that wait hold no more memory than all of them may", async () => {
  const mostBodies = 1024 * 1024;
  await using listener = await listen(async () => new Promise(() => {}), { tls, grace: 10, mostBodies });
  const client = http2(listener.url);
  const statuses: number[] = [];
  const body = Buffer.alloc(100_000);
  for (let i = 0; i < 11; i++) {
    const stream = client.begin({ method: "POST", body });
    stream.on("response", (head) => statuses.push(Number(head[":status"])));
    stream.on("error", () => {});
  }
  await until(() => statuses.length > 0);
  assert.deepEqual(statuses, [429]);
  client.close();
});

test("what is no HTTP request is answered with 400", async () => {
  await using plain = await listen(async () => ({ status: 200, headers: {}, body: "" }), { tls: "plain" });
  await using secure = await listen(async () => ({ status: 200, headers: {}, body: "" }), { tls });
  const long = `GET / HTTP/1.1\r\nHost: localhost\r\nA: ${"x".repeat(1024 * 1024)}\r\n\r\n`;
  for (const [text, status] of [
    ["\0\x01\x02 garbage\r\n\r\n", "400 Bad Request"],
    ["GET / HTTP/1.1\r\nbad header\r\n\r\n", "400 Bad Request"],
    [long, "431 Request Header Fields Too Large"],
  ] as const) {
    for (const { url, port } of [plain, secure]) {
      const socket = url.startsWith("https")
        ? connectTls({
            port,
            host: "127.0.0.1",
            ca: authority.cert,
            servername: "localhost",
            ALPNProtocols: ["http/1.1"],
          })
        : connectTcp(port, "127.0.0.1");
      socket.on("error", () => {});
      socket.write(text);
      let answer = "";
      for await (const chunk of socket) answer += String(chunk);
      assert.equal(answer.split("\r\n")[0], `HTTP/1.1 ${status}`);
    }
  }
});

test("as many and as long headers are taken as by a real server", async () => {
  await using listener = await listen(
    async ({ headers }) => ({ status: 200, headers: {}, body: String(headers["x-long"]).length.toString() }),
    { tls },
  );
  const headers = {
    "x-long": "x".repeat(50_000),
    ...Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`x-${i}`, "y"])),
  };
  for (const client of [http1(listener.url), http2(listener.url)]) {
    assert.equal((await client.ask({ headers })).body.toString(), "50000");
    client.close();
  }
});

test("headers beyond ASCII are sent as UTF-8", async () => {
  const warning = '299 - "unknown field \\"ключ\\""';
  await using listener = await listen(async () => ({ status: 200, headers: { warning: [warning] }, body: "" }), {
    tls,
  });
  for (const client of [http1(listener.url), http2(listener.url)]) {
    const { headers } = await client.ask({});
    assert.equal(Buffer.from(String(headers["warning"]), "latin1").toString(), warning);
    client.close();
  }
});

test("a body that comes in very many small pieces is refused", async () => {
  await using listener = await listen(async ({ body }) => ({ status: 200, headers: {}, body: `${body?.length}` }), {
    tls,
  });
  const send = async (count: number, piece: string) => {
    const socket = connectTls({ port: listener.port, host: "127.0.0.1", ca: authority.cert });
    await once(socket, "secureConnect");
    const chunk = `${piece.length.toString(16)}\r\n${piece}\r\n`;
    socket.write("POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n");
    socket.end(`${chunk.repeat(count)}0\r\n\r\n`);
    let answer = "";
    for await (const part of socket) answer += String(part);
    return answer;
  };
  assert.match(await send(9_000, "x"), /^HTTP\/1.1 200.*9000$/s);
  assert.match(await send(12_000, "x".repeat(64)), /^HTTP\/1.1 200.*768000$/s);
  assert.match(await send(20_000, "x"), /^HTTP\/1.1 400.*came in more than \d+ pieces/s);
});
