import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type ConnectionOptions, connect as tlsConnect } from "node:tls";

/** A request to a server in a pod. */
export interface PodRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array;
  /** Use TLS. */
  readonly tls?: ConnectionOptions;
  readonly signal?: AbortSignal;
}

/** Sends a request over a connection, which it then owns; resolves with the head of the answer. */
export async function requestOver(connection: Duplex, options: PodRequest): Promise<IncomingMessage> {
  const { method, path, headers, body, tls, signal } = options;
  const stream = tls ? await secured(connection, tls) : connection;
  const outgoing = httpRequest({
    method,
    path,
    headers: { ...headers, connection: "close" } as Record<string, string | string[]>,
    createConnection: () => stream,
    ...(signal && { signal }),
  });
  const answered = once(outgoing, "response") as Promise<[IncomingMessage]>;
  // Later errors surface where the response is read.
  outgoing.on("error", () => {});
  outgoing.end(body);
  const [response] = await answered;
  response.once("close", () => stream.destroy());
  return response;
}

async function secured(connection: Duplex, options: ConnectionOptions): Promise<Duplex> {
  const socket = tlsConnect({ ...options, socket: connection });
  await once(socket, "secureConnect");
  return socket;
}
