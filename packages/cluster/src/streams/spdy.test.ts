import assert from "node:assert/strict";
import { test } from "node:test";
import { GoClient, word } from "../../test/streams/go-client.ts";
import { ClientFrames, ServerFrames } from "./spdy.ts";

test("the dictionary is the one that all of SPDY/3 agrees on", async () => {
  const frame = await new GoClient().open(1, { a: "b" });
  // Behind zlib's header is the checksum of the dictionary.
  assert.equal(frame.subarray(20, 24).toString("hex"), "e3c6a7c2");
});

test("compressed headers are read, however the bytes are chopped", async () => {
  const client = new GoClient();
  const frames = new ServerFrames();
  const sent = Buffer.concat([
    await client.open(1, { streamtype: "error", port: "80", requestid: "0" }),
    await client.open(3, { streamtype: "data", port: "80", requestid: "0" }),
    frames.data(3, Buffer.from("hello"), true),
    frames.ping(7),
  ]);
  for (const size of [1, 7, 1000]) {
    const reader = new ClientFrames();
    const seen: unknown[] = [];
    for (let at = 0; at < sent.length; at += size) seen.push(...(await reader.push(sent.subarray(at, at + size))));
    reader.close();
    const headers = (streamtype: string) => new Map(Object.entries({ streamtype, port: "80", requestid: "0" }));
    assert.deepEqual(seen, [
      { type: "open", stream: 1, fin: false, headers: headers("error") },
      { type: "open", stream: 3, fin: false, headers: headers("data") },
      { type: "data", stream: 3, fin: true, data: Buffer.from("hello") },
      { type: "ping", id: 7 },
    ]);
  }
});

test("headers that cannot be decompressed are an error of that stream, not of the process", async () => {
  const payload = Buffer.concat([Buffer.alloc(10), Buffer.from("not compressed at all")]);
  const frame = Buffer.concat([word(0x80030001), word(payload.length), payload]);
  await assert.rejects(new ClientFrames().push(frame), { code: "Z_DATA_ERROR" });
});

test("a large frame that comes in many small parts is put together once", async () => {
  const frames = new ClientFrames();
  const sent = new ServerFrames().data(1, Buffer.alloc(1024 * 1024, "x"));
  const received = [];
  for (let at = 0; at < sent.length; at += 100) received.push(...(await frames.push(sent.subarray(at, at + 100))));
  assert.equal(received.length, 1);
  assert.equal(received[0]!.type === "data" && received[0]!.data.length, 1024 * 1024);
});
