import assert from "node:assert/strict";
import { duplexPair } from "node:stream";
import { test } from "node:test";
import type { MessageSocket } from "@konverge/core";
import type { Pod } from "@konverge/kinds";
import { forwardByChannels, forwardedPorts } from "./channel-port-forward.ts";
import type { PodNetwork } from "./pod-network.ts";
import { socketPair } from "./socket-pair.ts";

const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "web", uid: "u1" }, spec: { containers: [] } } as Pod;

/** A network in which port 7 answers in capitals and hangs up, and nothing listens elsewhere. */
const network = {
  async dial(_pod: Pod, port: number) {
    if (port !== 7) throw new Error("connection refused");
    const [near, far] = duplexPair();
    far.once("data", (chunk: Buffer) => {
      far.end(chunk.toString("utf8").toUpperCase());
    });
    return near;
  },
} as unknown as PodNetwork;

async function received(socket: MessageSocket): Promise<[number, string][]> {
  const all: [number, string][] = [];
  for await (const message of socket.messages) {
    const bytes = Buffer.from(message as Uint8Array);
    all.push([bytes[0]!, bytes.subarray(1).toString("latin1")]);
  }
  return all;
}

test("each port has a channel for its bytes and one for errors, and both begin with its number", async () => {
  const [client, server] = socketPair("v4.channel.k8s.io");
  const done = forwardByChannels(network, pod, [7, 0x1234], server).then(() => server.close(1000));
  client.send(Buffer.from("\0hello"));
  await done;
  const messages = await received(client);
  const said = (channel: number) => messages.filter(([one]) => one === channel).map(([, text]) => text);
  assert.deepEqual(said(0), ["\x07\0", "HELLO"]);
  assert.deepEqual(said(1), ["\x07\0"]);
  assert.deepEqual(said(2), ["\x34\x12"]);
  assert.equal(said(3)[0], "\x34\x12");
  assert.match(said(3)[1]!, /^error forwarding port 4660 to pod web, uid u1: failed to connect to localhost:4660/);
});

test("a request must name its ports", () => {
  assert.deepEqual(forwardedPorts(new URLSearchParams("ports=80,81&ports=82")), [80, 81, 82]);
  for (const query of ["", "ports=", "ports=0", "ports=65536", "ports=http", "ports=80,"]) {
    assert.throws(() => forwardedPorts(new URLSearchParams(query)), { code: 400 }, query);
  }
});
