import assert from "node:assert/strict";
import { duplexPair } from "node:stream";
import { test } from "node:test";
import { drained } from "./drained.ts";

test("a writer continues when the other end reads, and leaves no listener behind", async () => {
  const [near, far] = duplexPair();
  far.resume();
  const listeners = () => near.listenerCount("drain") + near.listenerCount("close");
  const before = listeners();
  for (let i = 0; i < 20; i++) {
    while (near.write("x".repeat(1024)));
    await drained(near);
  }
  assert.equal(listeners(), before);
});

test("a writer continues when the stream is closed", async () => {
  const [near] = duplexPair();
  while (near.write("x".repeat(1024)));
  const waiting = drained(near);
  near.destroy();
  await waiting;
  await drained(near);
});
