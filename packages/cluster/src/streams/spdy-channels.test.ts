import assert from "node:assert/strict";
import { test } from "node:test";
import { SpdyWriter } from "@konverge/core";
import { GoClient } from "../../test/streams/go-client.ts";
import { socketPair } from "./socket-pair.ts";
import { channelsOverSpdy, SPDY } from "./spdy-channels.ts";

/** A connection on which both streams of a command that reads and writes are open, and what the server sent on it. */
async function setup(query: string, ...names: string[]) {
  const [client, outer] = socketPair(`${SPDY}v4.channel.k8s.io`);
  const channels = channelsOverSpdy(outer, new URLSearchParams(query));
  const go = new GoClient();
  for (const [index, streamtype] of names.entries()) client.send(await go.open(2 * index + 1, { streamtype }));
  const received = async () => {
    const frames: Buffer[] = [];
    for await (const message of client.messages) frames.push(Buffer.from(message as Uint8Array));
    return frames;
  };
  return { client, channels, received };
}

const frames = new SpdyWriter();

test("what a process writes goes out on its streams, which end with it", async () => {
  const { channels, received } = await setup("stdout=true", "error", "stdout");
  assert.equal(channels.protocol, "v4.channel.k8s.io");
  channels.send(Buffer.from("\x01hello"));
  channels.send(Buffer.from("\x02nobody asked for errors"));
  channels.send(Buffer.from("\x03{}"));
  channels.close(1000);
  const replies = new SpdyWriter();
  const expected = [
    replies.reply(1),
    replies.reply(3),
    frames.data(3, Buffer.from("hello")),
    frames.data(1, Buffer.from("{}"), true),
    frames.data(3, Buffer.alloc(0), true),
  ];
  assert.deepEqual(
    await received(),
    expected.map((frame) => Buffer.from(frame)),
  );
});

test("what a client sends becomes input, and the end of its stream the end of the input", async () => {
  const { client, channels } = await setup("stdin=true", "error", "stdin");
  client.send(frames.data(3, Buffer.from("typed"), true));
  const received: string[] = [];
  for await (const message of channels.messages) {
    received.push(Buffer.from(message as Uint8Array).toString("latin1"));
    if (received.length === 2) break;
  }
  assert.deepEqual(received, ["\x00typed", "\xff\x00"]);
  client.close();
});

test("a client that goes before it has opened its streams ends the process's", async () => {
  const { client, channels } = await setup("stdout=true", "error");
  client.close();
  for await (const _ of channels.messages) assert.fail("there is no input");
});
