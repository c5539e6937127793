import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import type { Process, Room } from "../process.ts";

const BYTES_PER_STEP = 4096;

/** A request as command lines describe it. */
export interface WebRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly insecure: boolean;
  readonly ca?: Uint8Array;
  /** Milliseconds. */
  readonly timeout?: number;
}

/** The head of an answer. */
export interface WebAnswer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: IncomingMessage["headers"];
}

/** Sends a request over the cluster's network. The answer's body is handed on as it arrives, as fast as it is taken. */
export async function ask(
  process: Process,
  request: WebRequest,
  begin: (answer: WebAnswer) => Promise<(piece: Uint8Array) => Room>,
): Promise<void> {
  const { url, method, headers, body } = request;
  const isSecure = url.protocol === "https:";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const over = new AbortController();
  const timer = process.clock.after(request.timeout ?? 30_000, () => over.abort(new Error("timed out")), {
    background: true,
    label: process.label,
  });
  const signal = AbortSignal.any([process.signal, over.signal]);
  let stream: Duplex | undefined;
  try {
    const plain = await untilAborted(process.network.connect(host, Number(url.port || (isSecure ? 443 : 80))), signal);
    stream = plain;
    const connection = isSecure ? await secured(plain, host, request) : plain;
    const outgoing = httpRequest({
      method,
      path: url.pathname + url.search,
      headers: { host: url.host, "user-agent": "konverge-userland", accept: "*/*", ...headers, connection: "close" },
      createConnection: () => connection,
      signal,
    });
    const answered = once(outgoing, "response") as Promise<[IncomingMessage]>;
    // Later errors surface where the body is read.
    outgoing.on("error", () => {});
    outgoing.end(body);
    const [response] = await answered;
    const { statusCode = 0, statusMessage = "" } = response;
    const take = await begin({ status: statusCode, statusText: statusMessage, headers: response.headers });
    for await (const piece of response as AsyncIterable<Buffer>) {
      await process.spend(1 + piece.length / BYTES_PER_STEP);
      await take(piece);
    }
  } finally {
    stream?.destroy();
    timer.cancel();
  }
}

async function secured(connection: Duplex, host: string, { insecure, ca }: WebRequest): Promise<Duplex> {
  const socket = connectTls({
    socket: connection,
    ...(/^[\d.:]+$/.test(host) ? {} : { servername: host }),
    rejectUnauthorized: !insecure,
    ...(ca && { ca: Buffer.from(ca) }),
  });
  await once(socket, "secureConnect");
  return socket;
}

/** Rejects when the signal aborts before the work is done. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}
