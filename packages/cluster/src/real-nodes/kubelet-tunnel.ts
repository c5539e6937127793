import type { IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Socket } from "node:net";
import type { Credential } from "@konverge/apiserver";
import { type ApiRequest, type ApiResponse, drained, type HeaderMap, type MessageSocket } from "@konverge/core";

/** Where a kubelet is. */
export interface KubeletAddress {
  readonly host: string;
  readonly port: number;
}

/** The headers that negotiate the protocol. */
const AGREED = ["x-stream-protocol-version", "x-accepted-stream-protocol-versions"];

/** Opens a connection to a kubelet with the protocol of a request, or returns its refusal. */
export async function openTunnel(
  { host, port }: KubeletAddress,
  request: ApiRequest & { tunnel: string },
  { cert, key }: Credential,
): Promise<ApiResponse> {
  const { method, path, tunnel, signal } = request;
  const outgoing = httpsRequest({
    host,
    port,
    method,
    path,
    cert,
    key,
    rejectUnauthorized: false,
    agent: false,
    headers: { ...agreed(request.headers), connection: "Upgrade", upgrade: tunnel },
    ...(signal && { signal }),
  });
  const answer = new Promise<ApiResponse>((resolve, reject) => {
    outgoing.once("error", reject);
    outgoing.once("response", (response) => {
      resolve({ status: response.statusCode ?? 502, headers: {}, body: response as AsyncIterable<Uint8Array> });
    });
    outgoing.once("upgrade", (response: IncomingMessage, socket: Socket, head: Buffer) => {
      const headers = agreed(response.headers as HeaderMap);
      resolve({ status: 101, headers, body: "", socket: byteSocket(tunnel, socket, head) });
    });
  });
  outgoing.end();
  return answer;
}

function agreed(headers: HeaderMap): Record<string, string | string[]> {
  return Object.fromEntries(
    AGREED.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name] as string | string[]]])),
  );
}

/** A connection as a stream of messages: pieces of it, as they come. */
function byteSocket(protocol: string, socket: Socket, head: Buffer): MessageSocket {
  if (head.length > 0) socket.unshift(head);
  socket.on("error", () => {});
  return {
    protocol,
    send: (bytes) => (!socket.writable || socket.write(bytes) ? undefined : drained(socket)),
    messages: socket as AsyncIterable<Uint8Array>,
    close: () => socket.destroy(),
  };
}
