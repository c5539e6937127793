import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { test } from "node:test";
import { connect as connectTls } from "node:tls";
import { type ApiRequest, forbidden, type MessageSocket, type Transport } from "@konverge/core";
import { WebSocket } from "ws";
import { authority, http1, tls, until } from "../../test/clients.ts";
import { listen } from "./listen.ts";

/** The server's end of a message stream, worked by hand. */
class Stream implements MessageSocket {
  readonly protocol: string;
  readonly received: (string | Uint8Array)[] = [];
  closed: [code?: number, reason?: string] | undefined;
  readonly #queue: (string | Uint8Array | Error | undefined)[] = [];
  #wake = () => {};

  constructor(protocol: string) {
    this.protocol = protocol;
  }
  send(message: string | Uint8Array): undefined {
    this.received.push(typeof message === "string" ? message : Uint8Array.from(message));
  }
  close(code?: number, reason?: string): void {
    this.closed = [code, reason];
    this.say(undefined);
  }
  say(message: string | Uint8Array | Error | undefined): void {
    this.#queue.push(message);
    this.#wake();
  }
  readonly messages = this.#messages();
  async *#messages(): AsyncGenerator<string | Uint8Array> {
    for (;;) {
      while (this.#queue.length === 0) await new Promise<void>((resolve) => (this.#wake = resolve));
      const next = this.#queue.shift();
      if (next === undefined) return;
      if (next instanceof Error) throw next;
      yield next;
    }
  }
}

function exec() {
  const streams: Stream[] = [];
  const requests: ApiRequest[] = [];
  const transport: Transport = async (request) => {
    requests.push(request);
    if (request.path === "/forbidden") throw forbidden({ group: "", plural: "pods" }, "p", "no");
    if (!request.upgrade) return { status: 400, headers: {}, body: "unable to upgrade: no protocol was offered" };
    const stream = new Stream(request.upgrade.find((protocol) => /^(SPDY.*v4|v5)/.test(protocol)) ?? "");
    streams.push(stream);
    return { status: 101, headers: {}, body: "", socket: stream };
  };
  return { transport, streams, requests };
}

const connect = (url: string, protocols: string[] = []) =>
  new WebSocket(url.replace(/^http/, "ws"), protocols, { ca: authority.cert });

test("a WebSocket carries messages both ways, under the protocol that the server chose", async () => {
  const { transport, streams, requests } = exec();
  await using listener = await listen(transport, { tls });
  const socket = connect(`${listener.url}/exec?command=ls`, ["v4.channel.k8s.io", "v5.channel.k8s.io"]);
  await once(socket, "open");
  assert.equal(socket.protocol, "v5.channel.k8s.io");
  assert.deepEqual(requests[0]?.upgrade, ["v4.channel.k8s.io", "v5.channel.k8s.io"]);
  assert.equal(requests[0]?.path, "/exec?command=ls");

  socket.send("text");
  socket.send(Buffer.from([0, 255, 1]));
  const [stream] = streams;
  await until(() => stream!.received.length === 2);
  assert.deepEqual(stream!.received, ["text", Uint8Array.from([0, 255, 1])]);

  stream!.say(Buffer.from([1, 104, 105]));
  const [bytes, isBinary] = (await once(socket, "message")) as [Buffer, boolean];
  assert.ok(isBinary);
  assert.deepEqual([...bytes], [1, 104, 105]);
  stream!.say("hello");
  assert.equal(String((await once(socket, "message"))[0]), "hello");

  stream!.say(undefined);
  assert.equal((await once(socket, "close"))[0], 1000);
});

test("when the client closes or vanishes, the server's end is closed", async () => {
  const { transport, streams } = exec();
  await using listener = await listen(transport, { tls });
  const polite = connect(listener.url, ["v5.channel.k8s.io"]);
  await once(polite, "open");
  polite.close(4000, "enough");
  await until(() => streams[0]?.closed !== undefined);
  assert.deepEqual(streams[0]?.closed, [4000, "enough"]);

  const rude = connect(listener.url, ["v5.channel.k8s.io"]);
  await once(rude, "open");
  rude.terminate();
  await until(() => streams[1]?.closed !== undefined);
  assert.equal(streams[1]?.closed?.[0], 1006);
});

test("a stream that breaks is closed with an error", async () => {
  const { transport, streams } = exec();
  await using listener = await listen(transport, { tls });
  const socket = connect(listener.url, ["v5.channel.k8s.io"]);
  await once(socket, "open");
  streams[0]!.say(new Error("the container is gone"));
  const [code, reason] = (await once(socket, "close")) as [number, Buffer];
  assert.equal(code, 1011);
  assert.equal(reason.toString(), "the container is gone");
});

test("a refusal is an ordinary answer", async () => {
  const { transport } = exec();
  await using listener = await listen(transport, { tls });
  const socket = connect(`${listener.url}/forbidden`, ["v5.channel.k8s.io"]);
  const [, incoming] = (await once(socket, "unexpected-response")) as [
    unknown,
    AsyncIterable<Buffer> & { statusCode: number },
  ];
  assert.equal(incoming.statusCode, 403);
  let text = "";
  for await (const chunk of incoming) text += chunk;
  assert.equal(JSON.parse(text).message, 'pods "p" is forbidden: no');
});

test("nothing is left of the connection of a refused client that has sent more than its request", async () => {
  const { transport } = exec();
  // It closes when all connections have: the test ends only if nothing is left of this one.
  await using listener = await listen(transport, { tls, grace: 3_600_000 });
  const client = connectTls({ host: listener.host, port: listener.port, ca: authority.cert, servername: "localhost" });
  client.write(
    "GET /forbidden HTTP/1.1\r\nhost: localhost\r\nconnection: Upgrade\r\nupgrade: websocket\r\n" +
      "sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
  );
  client.write(Buffer.alloc(100_000));
  const [answer] = (await once(client, "data")) as [Buffer];
  assert.match(answer.toString(), /^HTTP\/1\.1 403 Forbidden\r\n/);
  await once(client.resume(), "close");
});

test("a SPDY connection carries its bytes as they are, under the protocol that the server chose", async () => {
  const { transport, streams, requests } = exec();
  await using listener = await listen(transport, { tls });
  const outgoing = httpsRequest(`${listener.url}/exec?command=ls`, {
    method: "POST",
    ca: authority.cert,
    agent: false,
    headers: {
      connection: "Upgrade",
      upgrade: "SPDY/3.1",
      "x-stream-protocol-version": ["v4.channel.k8s.io", "v3.channel.k8s.io"],
    },
  });
  outgoing.end();
  const [response, socket] = (await once(outgoing, "upgrade")) as [IncomingMessage, Duplex];
  assert.equal(response.headers.upgrade, "SPDY/3.1");
  assert.equal(response.headers["x-stream-protocol-version"], "v4.channel.k8s.io");
  assert.deepEqual(requests[0]?.upgrade, ["SPDY/3.1+v4.channel.k8s.io", "SPDY/3.1+v3.channel.k8s.io"]);
  const [stream] = streams;
  socket.write(Buffer.from([128, 3, 0, 1]));
  await until(() => stream!.received.length === 1);
  assert.deepEqual(stream!.received, [Uint8Array.from([128, 3, 0, 1])]);
  stream!.say(Buffer.from([128, 3, 0, 2]));
  const [bytes] = (await once(socket, "data")) as [Buffer];
  assert.deepEqual([...bytes], [128, 3, 0, 2]);
  stream!.say(undefined);
  await once(socket, "end");
  socket.destroy();
});

test("an upgrade to anything else is refused with advice, and nothing is begun", async () => {
  const { transport, streams } = exec();
  await using listener = await listen(transport, { tls });
  const client = http1(listener.url);
  const { status, body } = await client.ask({
    method: "POST",
    headers: { connection: "Upgrade", upgrade: "SPDY/2" },
  });
  assert.equal(status, 400);
  assert.match(JSON.parse(body.toString()).message, /upgrades to WebSocket and SPDY\/3\.1 alone, not to SPDY\/2/);
  assert.deepEqual(streams, []);
  client.close();
});

test("a tunnel carries bytes both ways, and ends with either side", async () => {
  const streams: Stream[] = [];
  const transport: Transport = async ({ tunnel = "" }) => {
    const stream = new Stream(tunnel);
    streams.push(stream);
    return { status: 101, headers: { "x-stream-protocol-version": "v4.channel.k8s.io" }, body: "", socket: stream };
  };
  await using listener = await listen(transport, { tls });
  const open = async () => {
    const request = httpsRequest(listener.url, {
      method: "POST",
      ca: authority.cert,
      headers: { connection: "Upgrade", upgrade: "SPDY/3.1" },
    });
    request.end();
    const [response, socket] = (await once(request, "upgrade")) as [IncomingMessage, Socket];
    assert.equal(response.headers.upgrade, "SPDY/3.1");
    assert.equal(response.headers["x-stream-protocol-version"], "v4.channel.k8s.io");
    return { socket, stream: streams.at(-1)! };
  };
  const first = await open();
  first.socket.write("there");
  first.stream.say(Buffer.from("and back"));
  const [bytes] = await once(first.socket, "data");
  assert.equal(String(bytes), "and back");
  await until(() => Buffer.concat(first.stream.received as Buffer[]).toString() === "there");
  first.stream.say(undefined);
  await once(first.socket, "end");
  const second = await open();
  second.socket.destroy();
  await until(() => second.stream.closed !== undefined);
});

test("closing the server closes open streams with code 1001 (going away)", async () => {
  const { transport, streams } = exec();
  const listener = await listen(transport, { tls });
  const socket = connect(listener.url, ["v5.channel.k8s.io"]);
  await once(socket, "open");
  const [[code]] = await Promise.all([once(socket, "close"), listener.close()]);
  assert.equal(code, 1001);
  assert.deepEqual(streams[0]?.closed?.[0], 1001);
});

test("web pages cannot open streams on an unguarded server", async () => {
  const { transport, requests } = exec();
  await using listener = await listen(transport, { tls: "plain" });
  const socket = new WebSocket(listener.url.replace("http", "ws"), ["v5.channel.k8s.io"], {
    origin: "https://attacker.example",
  });
  const [, incoming] = (await once(socket, "unexpected-response")) as [unknown, { statusCode: number }];
  assert.equal(incoming.statusCode, 403);
  assert.deepEqual(requests, []);
});
