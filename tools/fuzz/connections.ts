import type { TLSSocket } from "node:tls";
import { type Random, seededRandom } from "@konverge/core";
import { hostileString } from "./hostile-values.ts";
import { badFrames } from "./http2-frames.ts";
import { type Endpoint, openTls } from "./send.ts";
import { STEADY } from "./targets.ts";

/** A connection on which something else comes than requests one by one. */
export interface HostileConnection {
  readonly what: string;
  readonly protocol: "http/1.1" | "h2";
  /** What is written, with a moment between the parts. */
  readonly parts: readonly Buffer[];
  /** Nothing is read, and the connection stays open until the end. */
  readonly unread: boolean;
}

const HOST = "host: localhost\r\n";
const PODS = "/api/v1/namespaces/fuzz/pods";
const STREAMS = [
  "exec?command=cat&stdin=true&stdout=true",
  "attach?stdin=true&stdout=true",
  "portforward?ports=80",
  "portforward",
  "log?follow=true",
];
const SUBPROTOCOLS = [
  ...["v5.channel.k8s.io", "v4.channel.k8s.io", "channel.k8s.io", "base64.channel.k8s.io", "v4.base64.channel.k8s.io"],
  ...["SPDY/3.1+portforward.k8s.io", "portforward.k8s.io", "x", "", ",,,"],
];

/** The hostile connection with this number of a seed: always the same. */
export function connectionOf(seed: number, number: number): HostileConnection {
  const random = seededRandom(seed * 2 ** 20 + number);
  switch (random.below(6)) {
    case 0:
    case 1:
      return { what: "frames of HTTP/2", protocol: "h2", parts: badFrames(random), unread: false };
    case 2:
      return {
        what: "HTTP/1.1",
        protocol: "http/1.1",
        parts: [Buffer.from(badHttp1(random), "latin1")],
        unread: false,
      };
    case 3:
      return { what: "a watch that is never read", protocol: "http/1.1", parts: [unreadWatch(random)], unread: true };
    default:
      return { what: "an upgrade", protocol: "http/1.1", parts: upgrade(random), unread: false };
  }
}

function unreadWatch(random: Random): Buffer {
  const path = random.pick(["/api/v1/events", "/api/v1/pods", "/api/v1/configmaps", "/apis/apps/v1/deployments"]);
  const query = random.pick([
    "watch=1",
    "watch=1&resourceVersion=0",
    "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
  ]);
  return Buffer.from(`GET ${path}?${query} HTTP/1.1\r\n${HOST}\r\n`);
}

function badHttp1(random: Random): string {
  const many = 2 ** random.below(13);
  const text = hostileString(random);
  return random.pick([
    () => `GET ${"/".repeat(many * 100)} HTTP/1.1\r\n${HOST}\r\n`,
    () => `GET ${PODS} HTTP/1.1\r\n${HOST}${"x: y\r\n".repeat(many)}\r\n`,
    () => `GET ${PODS} HTTP/1.1\r\n${HOST}x: ${"y".repeat(many * 100)}\r\n\r\n`,
    () => `GET ${PODS} HTTP/1.1\r\n${HOST}no colon\r\n folded\r\n\r\n`,
    () => `POST ${PODS} HTTP/1.1\r\n${HOST}content-length: 5\r\ncontent-length: 6\r\n\r\n{}`,
    () =>
      `POST ${PODS} HTTP/1.1\r\n${HOST}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n`,
    () => `POST ${PODS} HTTP/1.1\r\n${HOST}transfer-encoding: chunked, x\r\n\r\nzz\r\n`,
    () => `POST ${PODS} HTTP/1.1\r\n${HOST}transfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n${text}`,
    () =>
      `POST ${PODS} HTTP/1.1\r\n${HOST}transfer-encoding: chunked\r\n\r\n${"1\r\nx\r\n".repeat(many)}0\r\nx: y\r\n\r\n`,
    () => `POST ${PODS} HTTP/1.1\r\n${HOST}content-length: -1\r\n\r\n`,
    () => `POST ${PODS} HTTP/1.1\r\n${HOST}content-length: 99999999999999999999\r\n\r\n{`,
    () => `POST ${PODS} HTTP/1.1\r\n${HOST}expect: 100-continue\r\ncontent-length: 2\r\n\r\n`,
    () => `POST ${PODS} HTTP/1.1\r\n${HOST}expect: ${text}\r\ncontent-length: 2\r\n\r\n{}`,
    () => `GET / HTTP/0.9\r\n\r\nGET / HTTP/3.0\r\n\r\n`,
    () => `CONNECT localhost:22 HTTP/1.1\r\n${HOST}\r\n`,
    () => `${text} ${text} ${text}\r\n${text}: ${text}\r\n\r\n`,
    () => `${`GET /healthz HTTP/1.1\r\n${HOST}\r\n`.repeat(many / 8 + 1)}`,
    () => `${`GET ${PODS}?watch=1 HTTP/1.1\r\n${HOST}\r\n`.repeat(20)}`,
    () => bytesOf(random, many).toString("latin1"),
  ])();
}

function upgrade(random: Random): Buffer[] {
  const protocol = random.pick(SUBPROTOCOLS);
  const path = `/api/v1/namespaces/${STEADY}/pods/running/${random.pick(STREAMS)}`;
  const target = random.below(6) === 0 ? `${PODS}?watch=1` : path;
  const kind = random.below(5) === 0 ? random.pick(["SPDY/3.1", "h2c", "x", ""]) : "websocket";
  const key = random.below(8) === 0 ? hostileString(random).slice(0, 60) : "dGhlIHNhbXBsZSBub25jZQ==";
  const version = random.below(8) === 0 ? random.pick(["8", "x", ""]) : "13";
  const head = [
    `${random.pick(["GET", "GET", "GET", "POST"])} ${target} HTTP/1.1`,
    "host: localhost",
    "connection: Upgrade",
    `upgrade: ${kind}`,
    `sec-websocket-key: ${key}`,
    `sec-websocket-version: ${version}`,
    `sec-websocket-protocol: ${protocol}`,
    `x-stream-protocol-version: ${protocol}`,
  ];
  const parts = Array.from({ length: 1 + random.below(6) }, () =>
    random.below(4) === 0 ? bytesOf(random, 1 + random.below(200)) : socketFrame(random),
  );
  return [Buffer.from(`${head.join("\r\n")}\r\n\r\n`, "latin1"), ...parts];
}

/** A frame of a WebSocket, mostly well-formed, with a channel and something in it. */
function socketFrame(random: Random): Buffer {
  const payload =
    random.below(2) === 0
      ? spdyFrame(random)
      : Buffer.concat([Buffer.from([random.pick([0, 1, 2, 3, 4, 5, 255])]), bytesOf(random, random.below(100))]);
  const opcode = random.pick([1, 2, 2, 2, 8, 9, 10, 3, 0]);
  const final = random.below(8) === 0 ? 0 : 0x80;
  const masked = random.below(10) === 0 ? 0 : 0x80;
  const length = random.below(20) === 0 ? random.below(126) : payload.length;
  const head =
    length < 126
      ? Buffer.from([final | opcode, masked | length])
      : Buffer.from([final | opcode, masked | 126, length >> 8, length & 255]);
  // A mask of zeros leaves the payload as it is.
  return Buffer.concat([head, masked ? Buffer.alloc(4) : Buffer.alloc(0), payload]);
}

/** A frame of SPDY/3.1: a data or control frame whose length and content need not fit. */
function spdyFrame(random: Random): Buffer {
  const payload = bytesOf(random, random.below(60));
  const head = Buffer.alloc(8);
  head.writeUInt32BE(random.below(2) === 0 ? random.below(8) : 0x80030000 + random.below(12), 0);
  head.writeUInt32BE(random.below(5) === 0 ? random.below(2 ** 32) : payload.length, 4);
  return Buffer.concat([head, payload]);
}

export function bytesOf(random: Random, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random.below(256)));
}

const MOMENT_MS = 5;
const READ_MS = 250;

/** Opens it and writes all of it. Gives the statuses that came back, and the connection if it stays open. */
export async function play(
  { protocol, parts, unread }: HostileConnection,
  endpoint: Endpoint,
): Promise<{ statuses: number[]; text: string; open: TLSSocket | undefined }> {
  const socket = await openTls(endpoint, protocol);
  let text = "";
  let isClosed = false;
  socket.on("error", () => {}).on("close", () => (isClosed = true));
  if (unread) socket.pause();
  else socket.on("data", (chunk: Buffer) => (text += text.length < 100_000 ? chunk.toString("latin1") : ""));
  for (const part of parts) {
    if (isClosed) break;
    socket.write(part);
    await new Promise((resolve) => setTimeout(resolve, MOMENT_MS));
  }
  if (unread) return { statuses: [], text: "", open: socket };
  for (let waited = 0; waited < READ_MS && !isClosed; waited += MOMENT_MS * 5)
    await new Promise((resolve) => setTimeout(resolve, MOMENT_MS * 5));
  socket.destroy();
  return {
    statuses: [...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status)),
    text,
    open: undefined,
  };
}
