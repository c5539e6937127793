import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { ApiRequest, ApiResponse, HeaderMap, MessageSocket } from "@konverge/core";
import { WebSocket } from "ws";
import { TransportError } from "../errors.ts";
import { classifyError } from "./classify-error.ts";
import type { TlsMaterial } from "./tls-material.ts";
import { tunnel } from "./tunnel.ts";

/** Messages waiting for their consumer at which the connection is paused. */
const HIGH_WATER = 64;

/** Opens a message stream; when the server refuses it, its answer is the response. */
export function openWebSocket(
  server: URL,
  request: ApiRequest,
  tls: TlsMaterial,
  proxy: URL | undefined,
): Promise<ApiResponse> {
  const url = new URL(server.origin + request.path);
  url.protocol = server.protocol === "https:" ? "wss:" : "ws:";
  const what = `${request.method} ${server.origin}${request.path}`;
  const offered = request.upgrade ?? [];
  return new Promise((resolve, reject) => {
    // Kubernetes' port forwarding has a name that RFC 6455 forbids (it has a slash), and ws would not offer it. So the
    // header is ours: offered here, read and taken away from the answer before ws sees it.
    const socket = new WebSocket(url, {
      ...tls,
      headers: { ...(request.headers as Record<string, string>), "sec-websocket-protocol": offered.join(", ") },
      perMessageDeflate: false,
      ...(proxy && { createConnection: throughProxy(server, proxy, tls) }),
    });
    let protocol = "";
    socket.once("upgrade", ({ headers }: IncomingMessage) => {
      protocol = headers["sec-websocket-protocol"] ?? "";
      delete headers["sec-websocket-protocol"];
    });
    const { signal } = request;
    const onAbort = () => socket.terminate();
    signal?.addEventListener("abort", onAbort, { once: true });
    if (signal?.aborted) onAbort();
    socket.once("open", () => {
      if (offered.includes(protocol)) {
        return resolve({ status: 101, headers: {}, body: "", socket: messageSocket(socket, protocol, what) });
      }
      socket.terminate();
      const message = `${what}: the server chose the protocol ${JSON.stringify(protocol)} of ${offered.join(", ")}`;
      reject(new TransportError("malformed", message, { unknownOutcome: true }));
    });
    socket.once("unexpected-response", (_request, response: IncomingMessage) => {
      resolve({ status: response.statusCode ?? 500, headers: response.headers as HeaderMap, body: response });
    });
    socket.once("error", (error: NodeJS.ErrnoException) => {
      const sent = error.syscall !== "connect" && error.syscall !== "getaddrinfo";
      reject(classifyError(error, what, { sent, write: true }));
    });
    socket.once("close", () => signal?.removeEventListener("abort", onAbort));
  });
}

/** ws asks Node for a connection; Node accepts one that arrives later, by the callback. */
function throughProxy(server: URL, proxy: URL, tls: TlsMaterial) {
  const host = server.hostname.replace(/^\[|\]$/g, "");
  const port = Number(server.port) || (server.protocol === "https:" ? 443 : 80);
  const create = (_options: unknown, done: (error: Error | null, socket?: Socket) => void) => {
    tunnel(proxy, host, port).then(
      (socket) => {
        if (server.protocol !== "https:") return done(null, socket);
        const secure = connectTls({ servername: host, ...tls, socket });
        secure.once("error", (error) => done(error));
        secure.once("secureConnect", () => done(null, secure));
      },
      (cause: Error) => done(new TransportError("unreachable", cause.message, { cause, unknownOutcome: false })),
    );
    return undefined;
  };
  return create as unknown as typeof import("node:net").createConnection;
}

function messageSocket(socket: WebSocket, protocol: string, what: string): MessageSocket {
  const waiting: Uint8Array[] = [];
  let wake: (() => void) | undefined;
  let over = false;
  let error: TransportError | undefined;
  socket.on("message", (data) => {
    waiting.push(data as Buffer);
    if (waiting.length > HIGH_WATER) socket.pause();
    wake?.();
  });
  socket.on("error", (cause) => {
    error = classifyError(cause, what, { sent: true, write: true });
  });
  socket.once("close", (code: number, reason: Buffer) => {
    over = true;
    if (code !== 1000 && code !== 1005) {
      const why = reason.length > 0 ? reason.toString() : "no reason given";
      error ??= new TransportError("closed", `${what}: closed with code ${code}: ${why}`, { unknownOutcome: true });
    }
    wake?.();
  });
  async function* messages(): AsyncGenerator<Uint8Array, void, void> {
    for (;;) {
      const message = waiting.shift();
      if (message) {
        if (socket.isPaused && waiting.length < HIGH_WATER) socket.resume();
        yield message;
      } else if (over) {
        if (error) throw error;
        return;
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  }
  return {
    protocol,
    messages: messages(),
    send: (message) => {
      socket.send(message);
      return undefined;
    },
    // 1005 and 1006 describe how a connection ended and cannot be sent: pass the end on as it came.
    close: (code, reason) => {
      if (code === 1005) socket.close();
      else if (code === 1006) socket.terminate();
      else socket.close(code, reason);
    },
  };
}
