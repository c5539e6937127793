import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type Clock, realClock } from "@konverge/core";

/** What came in. */
export interface Received {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
  rawHeaders: string[];
  body: string;
  /** The number of the connection it came on. */
  connection: number;
}

export interface LoopbackServer extends AsyncDisposable {
  url: string;
  port: number;
  http: Server;
  received: Received[];
  /** Connections that are open now. */
  sockets: Set<Socket>;
}

export type Handler = (request: Received, response: ServerResponse, socket: Socket) => void;

/** An HTTP server on a loopback port that does as the test says. */
export async function loopbackServer(handler: Handler, port = 0): Promise<LoopbackServer> {
  const received: Received[] = [];
  const sockets = new Set<Socket>();
  const numbers = new Map<Socket, number>();
  const http = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const { method = "", url = "", headers, rawHeaders, socket } = request;
    const entry = { method, url, headers, rawHeaders, body, connection: numbers.get(socket)! };
    received.push(entry);
    handler(entry, response, socket);
  });
  http.on("connection", (socket) => {
    sockets.add(socket);
    numbers.set(socket, numbers.size + 1);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => http.listen(port, "127.0.0.1", resolve));
  const address = http.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    http,
    received,
    sockets,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

export function answer(
  response: ServerResponse,
  value: unknown,
  status = 200,
  headers: Record<string, string> = {},
): void {
  const body = JSON.stringify(value);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    ...headers,
  });
  response.end(body);
}

/** The machine's clock, on which waits pass a thousand times as fast: sockets know no virtual time. */
export function hurriedClock(): Clock {
  const clock = realClock(1);
  const start = clock.monotonic();
  return {
    ...clock,
    monotonic: () => start + (clock.monotonic() - start) * 1000,
    after: (ms, task, options) => clock.after(ms / 1000, task, options),
  };
}
