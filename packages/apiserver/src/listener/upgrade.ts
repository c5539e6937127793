import { once } from "node:events";
import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { type ApiResponse, headerValues, type MessageSocket, readText } from "@konverge/core";
import { type WebSocket, WebSocketServer } from "ws";

/** As Go's WebSocket package limits messages by default. */
const LARGEST_MESSAGE = 32 * 1024 * 1024;
const GOING_AWAY = 1001;
const INTERNAL_ERROR = 1011;

/** Turns requests for message streams (exec, attach, port-forward) into WebSockets. */
export class Upgrades {
  readonly #protocols = new WeakMap<IncomingMessage, string>();
  readonly #open = new Set<WebSocket>();
  readonly #raw = new Set<Duplex>();
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: LARGEST_MESSAGE,
  });

  constructor() {
    this.#server.on("headers", (headers, request) => {
      const protocol = this.#protocols.get(request);
      if (protocol) headers.push(`Sec-WebSocket-Protocol: ${protocol}`);
    });
  }

  /** Completes an upgrade as the handler answered it: with a stream, or with a refusal. */
  async complete(incoming: IncomingMessage, socket: Duplex, head: Buffer, response: ApiResponse): Promise<void> {
    if (response.status !== 101 || !response.socket) {
      await refuse(socket, response);
      return;
    }
    const inner = response.socket;
    if (inner.protocol.startsWith(SPDY_PREFIX) && isSpdy(incoming)) {
      this.#raw.add(socket);
      socket.on("close", () => this.#raw.delete(socket));
      await carryBytes(socket, head, inner);
      return;
    }
    this.#protocols.set(incoming, inner.protocol);
    // The library takes only protocols whose names are tokens; that of port forwarding (SPDY/3.1+…) is none.
    delete incoming.headers["sec-websocket-protocol"];
    this.#server.handleUpgrade(incoming, socket, head, (outer) => {
      this.#open.add(outer);
      outer.on("close", () => this.#open.delete(outer));
      connect(outer, inner);
    });
  }

  /** Tells all clients that the server is going away. */
  close(): void {
    for (const socket of this.#open) socket.close(GOING_AWAY, "the server is shutting down");
    for (const socket of this.#raw) socket.destroy();
  }
}

const SPDY_PREFIX = "SPDY/3.1+";
const SPDY_VERSIONS = "x-stream-protocol-version";

function isSpdy({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === "spdy/3.1";
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
  return incoming.headers.upgrade?.toLowerCase() === "websocket" ? listed("sec-websocket-protocol") : undefined;
}

/** Carries SPDY's frames both ways, as bytes, until either side ends. */
async function carryBytes(socket: Duplex, head: Buffer, inner: MessageSocket): Promise<void> {
  const version = inner.protocol.slice(SPDY_PREFIX.length);
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n${SPDY_VERSIONS}: ${version}\r\n\r\n`,
  );
  const out = async () => {
    for await (const message of inner.messages) {
      if (!socket.writable) return;
      if (!socket.write(message)) await Promise.race([once(socket, "drain"), once(socket, "close")]);
    }
    socket.end();
  };
  const back = async () => {
    if (head.length > 0) await inner.send(head);
    for await (const chunk of socket) await inner.send(chunk as Buffer);
  };
  void back().then(
    () => inner.close(1000),
    () => inner.close(1006),
  );
  await out().catch(() => socket.destroy());
}

/** Carries messages both ways until either side ends. */
function connect(outer: WebSocket, inner: MessageSocket): void {
  outer.on("message", (data, isBinary) => {
    const bytes = Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer);
    inner.send(isBinary ? bytes : bytes.toString());
  });
  outer.on("close", (code, reason) => inner.close(code, reason.toString()));
  // A close event follows every error.
  outer.on("error", () => {});
  void carryOut(outer, inner);
}

async function carryOut(outer: WebSocket, inner: MessageSocket): Promise<void> {
  try {
    for await (const message of inner.messages) {
      if (outer.readyState !== outer.OPEN) return;
      // One at a time: what the client does not take stays with whoever sends it.
      await new Promise<void>((resolve) => outer.send(message, () => resolve()));
    }
    outer.close(1000);
  } catch (error) {
    outer.close(INTERNAL_ERROR, (error instanceof Error ? error.message : String(error)).slice(0, 100));
  }
}

/** An ordinary answer on a connection that was to be upgraded: the last thing that is said on it. */
export async function refuse(socket: Duplex, response: ApiResponse): Promise<void> {
  const body = Buffer.from(await readText(response.body));
  const lines = [`HTTP/1.1 ${response.status} ${STATUS_CODES[response.status] ?? ""}`];
  for (const name of Object.keys(response.headers)) {
    for (const value of headerValues(response.headers, name)) lines.push(`${name}: ${value}`);
  }
  lines.push(`content-length: ${body.length}`, "connection: close", "", "");
  if (!socket.writable) return;
  socket.end(Buffer.concat([Buffer.from(lines.join("\r\n")), body]));
  await once(socket, "close").catch(() => {});
}
