import { once } from "node:events";
import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import {
  type ApiResponse,
  type Clock,
  type HeaderMap,
  headerValues,
  type MessageSocket,
  readText,
  type Timer,
} from "@konverge/core";
import type { WebSocket, WebSocketServer } from "ws";
import { tunnel } from "./tunnel.ts";

/** As Go's WebSocket package limits messages by default. */
const LARGEST_MESSAGE = 32 * 1024 * 1024;
const GOING_AWAY = 1001;
const INTERNAL_ERROR = 1011;

/** Turns requests for streams (exec, attach, port-forward) into WebSockets, connections of SPDY's frames, or tunnels. */
export class Upgrades {
  readonly #protocols = new WeakMap<IncomingMessage, string>();
  readonly #open = new Set<WebSocket>();
  readonly #raw = new Set<Duplex>();
  #server: Promise<WebSocketServer> | undefined;

  /** Completes an upgrade as the handler answered it: with a stream, or with a refusal. */
  async complete(
    incoming: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    response: ApiResponse,
    clock: Clock,
  ): Promise<void> {
    if (response.status !== 101 || !response.socket) {
      await refuse(socket, response, clock);
      return;
    }
    const inner = response.socket;
    if (inner.protocol.startsWith(SPDY_PREFIX) && isSpdy(incoming)) {
      const headers = { upgrade: SPDY, [SPDY_VERSIONS]: inner.protocol.slice(SPDY_PREFIX.length) };
      await this.#carry(socket, head, headers, inner);
      return;
    }
    this.#protocols.set(incoming, inner.protocol);
    // The library takes only protocols whose names are tokens; that of port forwarding (SPDY/3.1+…) is none.
    delete incoming.headers["sec-websocket-protocol"];
    this.#server ??= this.#webSocketServer();
    const server = await this.#server;
    // The client may have disconnected in the meantime.
    if (socket.destroyed) return inner.close(1006);
    server.handleUpgrade(incoming, socket, head, (outer) => {
      this.#open.add(outer);
      outer.on("close", () => this.#open.delete(outer));
      connect(
        outer,
        inner,
        (stallTimeout) => clock.after(stallTimeout, () => outer.terminate()),
        response.stallTimeout,
      );
    });
  }

  /** Most servers never open a WebSocket: the library is loaded with the first one. */
  async #webSocketServer(): Promise<WebSocketServer> {
    const { WebSocketServer: Server } = await import("ws");
    const server = new Server({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: LARGEST_MESSAGE,
    });
    return server.on("headers", (headers, request) => {
      const protocol = this.#protocols.get(request);
      if (protocol) headers.push(`Sec-WebSocket-Protocol: ${protocol}`);
    });
  }

  /** Completes an upgrade to a protocol that is not looked into. */
  async tunnel(socket: Duplex, head: Buffer, headers: HeaderMap, inner: MessageSocket): Promise<void> {
    await this.#carry(socket, head, { ...headers, upgrade: inner.protocol }, inner);
  }

  async #carry(socket: Duplex, head: Buffer, headers: HeaderMap, inner: MessageSocket): Promise<void> {
    this.#raw.add(socket);
    socket.once("close", () => this.#raw.delete(socket));
    await tunnel(socket, head, headers, inner);
  }

  /** Closes all connections with the code for a server that ends. */
  close(): void {
    for (const socket of this.#open) socket.close(GOING_AWAY, "the server is shutting down");
    for (const socket of this.#raw) socket.destroy();
  }
}

const SPDY = "SPDY/3.1";
const SPDY_PREFIX = `${SPDY}+`;
const SPDY_VERSIONS = "x-stream-protocol-version";

function isSpdy({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === SPDY.toLowerCase();
}

export function isWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === "websocket";
}

/**
 * The protocols a client offers, in its order: the subprotocols of a WebSocket, or those of a connection of SPDY's frames, each
 * with `SPDY/3.1+` before it. Undefined when it asks for something else.
 */
export function offeredProtocols(incoming: IncomingMessage): string[] | undefined {
  const listed = (name: string) =>
    [incoming.headers[name] ?? ""]
      .flat()
      .flatMap((text) => text.split(","))
      .map((protocol) => protocol.trim())
      .filter((protocol) => protocol !== "");
  if (isSpdy(incoming)) return listed(SPDY_VERSIONS).map((version) => SPDY_PREFIX + version);
  return isWebSocket(incoming) ? listed("sec-websocket-protocol") : undefined;
}

/** Ends a connection after some time, unless it is cancelled. */
type Deadline = (stallTimeout: number) => Timer;

/** Carries messages both ways until either side ends. */
function connect(outer: WebSocket, inner: MessageSocket, deadline: Deadline, stallTimeout: number | undefined): void {
  outer.on("message", (data, isBinary) => {
    const bytes = Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer);
    const room = inner.send(isBinary ? bytes : bytes.toString());
    if (!room) return;
    outer.pause();
    void room.then(() => outer.resume());
  });
  outer.on("close", (code, reason) => inner.close(code, reason.toString()));
  // A close event follows every error.
  outer.on("error", () => {});
  void carryOut(outer, inner, deadline, stallTimeout);
}

async function carryOut(
  outer: WebSocket,
  inner: MessageSocket,
  deadline: Deadline,
  stallTimeout: number | undefined,
): Promise<void> {
  try {
    for await (const message of inner.messages) {
      if (outer.readyState !== outer.OPEN) return;
      // One at a time: what the client does not take stays with the sender.
      const timer = stallTimeout === undefined ? undefined : deadline(stallTimeout);
      await new Promise<void>((resolve) => outer.send(message, () => resolve()));
      timer?.cancel();
    }
    outer.close(1000);
  } catch (error) {
    outer.close(INTERNAL_ERROR, (error instanceof Error ? error.message : String(error)).slice(0, 100));
  }
}

/** How long a refused client has to read its answer: closing at once, with something unread, could take it away. */
const FAREWELL = 500;

/** An ordinary answer on a connection that was to be upgraded: the last thing that is said on it. */
export async function refuse(socket: Duplex, response: ApiResponse, clock: Clock): Promise<void> {
  const body = Buffer.from(await readText(response.body));
  const lines = [`HTTP/1.1 ${response.status} ${STATUS_CODES[response.status] ?? ""}`];
  for (const name of Object.keys(response.headers)) {
    for (const value of headerValues(response.headers, name)) lines.push(`${name}: ${value}`);
  }
  lines.push(`content-length: ${body.length}`, "connection: close", "", "");
  if (!socket.writable) return void socket.destroy();
  const timer = clock.after(FAREWELL, () => socket.destroy());
  // What the client still sends is discarded. Without a reader, its end would never be noticed, and the socket would stay open.
  socket.resume();
  socket.end(Buffer.concat([Buffer.from(lines.join("\r\n")), body]));
  await once(socket, "close").catch(() => {});
  timer.cancel();
}
