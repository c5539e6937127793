import assert from "node:assert/strict";
import { duplexPair } from "node:stream";
import { test } from "node:test";
import { relayed } from "./relayed.ts";
import { socketPair } from "./socket-pair.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("a sender waits until the other end has read enough", async () => {
  const [near, far] = socketPair("p");
  let sent = 0;
  void (async () => {
    for (; sent < 1000; sent++) await near.send(new Uint8Array(10_000));
    near.close();
  })();
  await turn();
  assert.ok(sent < 30, `${sent} messages of 10 kB`);
  let received = 0;
  for await (const _ of far.messages) received++;
  assert.equal(received, 1000);
});

test("a sender that does not wait is disconnected when too much is queued", () => {
  const [near, far] = socketPair("p");
  for (let sent = 0; sent < 100 && !near.closed.aborted; sent++) void near.send(new Uint8Array(1024 * 1024));
  assert.ok(near.closed.aborted);
  assert.ok(far.closed.aborted);
});

test("a waiting sender continues when the other end closes", async () => {
  const [near, far] = socketPair("p");
  const waiting = near.send(new Uint8Array(1024 * 1024));
  far.close();
  await waiting;
  assert.equal(near.send("more"), undefined);
});

test("a connection is read no faster than its data is sent on", async () => {
  const [near, far] = socketPair("p");
  const [pod, client] = duplexPair();
  const over = relayed(client, (chunk) => near.send(chunk));
  let written = 0;
  void (async () => {
    for (; written < 1000; written++)
      if (!pod.write(new Uint8Array(10_000))) await new Promise((resolve) => pod.once("drain", resolve));
    pod.end();
  })();
  for (let turns = 0; turns < 1000; turns++) await turn();
  assert.ok(written < 60, `${written} pieces of 10 kB`);
  let size = 0;
  for await (const message of far.messages) {
    size += message.length;
    if (size === 10_000_000) break;
  }
  await over;
});
