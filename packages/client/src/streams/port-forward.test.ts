import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import { SpdyWriter } from "@konverge/core";
import { messagePipe, type PipeEnd } from "../../test/message-pipe.ts";
import { scripted } from "../../test/scripted-server.ts";
import { Client } from "../client.ts";
import { TransportError } from "../errors.ts";
import { collectText } from "./byte-queue.ts";
import { PORT_FORWARD_PROTOCOL } from "./port-forward.ts";

const frames = new SpdyWriter();

/** A stream that the client has opened, as the server's end of the tunnel sees it. */
interface Opened {
  stream: number;
  fin: boolean;
  headers: Record<string, string>;
}

/** The server's end of the tunnel: reads SYN_STREAM and DATA frames by hand, independently of the code under test. */
class TunnelServer {
  readonly #socket: PipeEnd;
  #bytes = Buffer.alloc(0);
  #firstBlock = true;
  readonly #messages: AsyncIterator<string | Uint8Array>;

  constructor(socket: PipeEnd) {
    this.#socket = socket;
    this.#messages = socket.messages[Symbol.asyncIterator]();
  }

  async opened(): Promise<Opened> {
    const { head, flags, payload } = await this.#frame();
    assert.equal(head, 0x80030001, "SYN_STREAM of version 3");
    let block = payload.subarray(10);
    if (this.#firstBlock) {
      assert.equal(block.subarray(0, 6).toString("hex"), "78bbe3c6a7c2", "zlib with the dictionary of SPDY/3");
      block = block.subarray(6);
    }
    this.#firstBlock = false;
    const length = block.readUInt16LE(1);
    assert.deepEqual([block[0], block.readUInt16LE(3)], [0, ~length & 0xffff], "a stored block");
    assert.equal(block.subarray(5 + length).toString("hex"), "000000ffff", "followed by a flush");
    const headers: Record<string, string> = {};
    let at = 9;
    const next = () => {
      const size = block.readUInt32BE(at);
      at += 4 + size;
      return block.toString("utf8", at - size, at);
    };
    for (let i = block.readUInt32BE(5); i > 0; i--) {
      const name = next();
      headers[name] = next();
    }
    return { stream: payload.readUInt32BE(0), fin: flags === 1, headers };
  }

  async data(): Promise<{ stream: number; fin: boolean; text: string }> {
    const { head, flags, payload } = await this.#frame();
    return { stream: head, fin: flags === 1, text: payload.toString() };
  }

  async control(): Promise<{ type: number; payload: string }> {
    const { head, payload } = await this.#frame();
    return { type: head & 0xffff, payload: payload.toString("hex") };
  }

  /** Sends bytes chopped as unluckily as can be. */
  send(bytes: Uint8Array): void {
    for (const byte of bytes) this.#socket.send(Uint8Array.of(byte));
  }

  async #frame() {
    while (this.#bytes.length < 8 || this.#bytes.length < 8 + this.#bytes.readUIntBE(5, 3)) {
      const { value, done } = await this.#messages.next();
      assert.ok(!done, "the client hung up");
      this.#bytes = Buffer.concat([this.#bytes, Buffer.from(value as Uint8Array)]);
    }
    const length = this.#bytes.readUIntBE(5, 3);
    const frame = {
      head: this.#bytes.readUInt32BE(0),
      flags: this.#bytes[4]!,
      payload: this.#bytes.subarray(8, 8 + length),
    };
    this.#bytes = this.#bytes.subarray(8 + length);
    return frame;
  }
}

async function open() {
  const [socket, far] = messagePipe(PORT_FORWARD_PROTOCOL);
  const { transport, requests } = scripted(() => ({ status: 101, headers: {}, body: "", socket }));
  const forward = await new Client(transport).portForward("prod/web");
  return { forward, server: new TunnelServer(far), far, requests };
}

test("a connection is two streams: one for errors, one for the bytes", async () => {
  const { forward, server, requests } = await open();
  const connection = forward.connect(8080);
  const errors = await server.opened();
  const data = await server.opened();
  assert.deepEqual(errors, { stream: 1, fin: true, headers: { streamtype: "error", port: "8080", requestid: "0" } });
  assert.deepEqual(data, { stream: 3, fin: false, headers: { streamtype: "data", port: "8080", requestid: "0" } });
  connection.write(Buffer.from("ping"));
  connection.end();
  assert.deepEqual(await server.data(), { stream: 3, fin: false, text: "ping" });
  assert.deepEqual(await server.data(), { stream: 3, fin: true, text: "" });
  server.send(Buffer.concat([frames.data(3, Buffer.from("po")), frames.data(3, Buffer.from("ng"), true)]));
  assert.equal(await collectText(connection.readable), "pong");
  assert.equal(requests[0]!.path, "/api/v1/namespaces/prod/pods/web/portforward");
  assert.deepEqual(requests[0]!.upgrade, ["SPDY/3.1+portforward.k8s.io"]);
});

test("a port without a listener ends the connection with the server's message", async () => {
  const { forward, server } = await open();
  const connection = forward.connect(81);
  server.send(frames.data(1, Buffer.from("connection refused"), true));
  await assert.rejects(
    collectText(connection.readable),
    (error: unknown) => error instanceof TransportError && error.message === "port 81: connection refused",
  );
});

test("many connections share one tunnel, and a reset ends only its own", async () => {
  const { forward, server } = await open();
  const [first, second] = [forward.connect(80), forward.connect(80)];
  const streams = [];
  for (let i = 0; i < 4; i++) streams.push((await server.opened()).stream);
  assert.deepEqual(streams, [1, 3, 5, 7]);
  server.send(Buffer.concat([frames.reset(3), frames.data(1, Buffer.from("too late"), true)]));
  server.send(frames.data(7, Buffer.from("alive"), true));
  await assert.rejects(collectText(first.readable), /port 80: too late/);
  assert.equal(await collectText(second.readable), "alive");
});

test("a ping is answered", async () => {
  const { server } = await open();
  server.send(Buffer.from("800300060000000400000002", "hex"));
  assert.deepEqual(await server.control(), { type: 6, payload: "00000002" });
});

test("when the tunnel breaks, every connection does, and no new one can be made", async () => {
  const { forward, far } = await open();
  const connection = forward.connect(80);
  far.break(new Error("reset"));
  await assert.rejects(collectText(connection.readable), TransportError);
  await forward.closed;
  assert.throws(() => forward.connect(80), TransportError);
});

test("a local port leads through the tunnel, both ways", async () => {
  const { forward, server } = await open();
  await using listener = await forward.listen(8080);
  const local = connect(listener.port, "127.0.0.1");
  local.end("request");
  assert.equal((await server.opened()).headers.port, "8080");
  const { stream } = await server.opened();
  assert.deepEqual(await server.data(), { stream, fin: false, text: "request" });
  assert.deepEqual(await server.data(), { stream, fin: true, text: "" });
  server.send(frames.data(stream, Buffer.from("response"), true));
  let answer = "";
  for await (const chunk of local) answer += chunk;
  assert.equal(answer, "response");
});
