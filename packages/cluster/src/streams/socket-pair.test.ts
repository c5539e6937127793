import assert from "node:assert/strict";
import { test } from "node:test";
import { socketPair } from "./socket-pair.ts";

const MEBIBYTE = 1024 * 1024;

test("whoever sends much is asked to wait until it has been taken", async () => {
  const [near, far] = socketPair("x");
  near.send(Buffer.alloc(10));
  assert.equal(near.full?.(), undefined);
  for (let i = 0; i < 3; i++) near.send(Buffer.alloc(MEBIBYTE));
  let isFull = true;
  const waiting = near.full!()!.then(() => {
    isFull = false;
  });
  const messages = far.messages[Symbol.asyncIterator]();
  for (let i = 0; i < 3; i++) await messages.next();
  assert.equal(isFull, true);
  await messages.next();
  await waiting;
  assert.equal(near.full?.(), undefined);
});

test("nobody waits for an end that is closed", async () => {
  const [near, far] = socketPair("x");
  near.send(Buffer.alloc(2 * MEBIBYTE));
  const waiting = near.full!();
  far.close();
  await waiting;
  assert.equal(near.full?.(), undefined);
});

test("a stream of which nothing is ever taken ends before it has taken all memory", async () => {
  const [near, far] = socketPair("x");
  const megabyte = Buffer.alloc(MEBIBYTE);
  for (let i = 0; i < 300; i++) near.send(megabyte);
  let received = 0;
  for await (const message of far.messages) received += message.length;
  assert.ok(received <= 257 * MEBIBYTE, String(received));
});
