import assert from "node:assert/strict";
import { test } from "node:test";
import { SpdyReader, SpdyWriter } from "./spdy.ts";

test("a large frame that comes in many small parts is put together once", () => {
  const reader = new SpdyReader();
  const sent = new SpdyWriter().data(1, new Uint8Array(1024 * 1024));
  const received = [];
  for (let at = 0; at < sent.length; at += 100) received.push(...reader.push(sent.subarray(at, at + 100)));
  assert.deepEqual(received, [{ type: "data", stream: 1, fin: false, data: new Uint8Array(1024 * 1024) }]);
});

test("what one end writes the other reads; frames of no interest are dropped", () => {
  const writer = new SpdyWriter();
  const settings = Uint8Array.of(0x80, 3, 0, 4, 0, 0, 0, 4, 0, 0, 0, 0);
  const frames = [writer.reply(1), settings, writer.reset(3), writer.ping(2)].flatMap((one) =>
    new SpdyReader().push(one),
  );
  assert.deepEqual(frames, [
    { type: "reply", stream: 1, fin: false },
    { type: "reset", stream: 3, status: 5 },
    { type: "ping", id: 2 },
  ]);
});
