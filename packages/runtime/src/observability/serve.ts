import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { ServerOptions as TlsOptions } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { type HeaderMap, readText, type Transport } from "@konverge/core";
import { BodyBudget } from "./body-budget.ts";
import { nodeHttp, nodeHttps } from "./on-demand.ts";

export interface ServeHttpOptions {
  /** 0: a free port. */
  port: number;
  /** Default: all interfaces, since requests come from outside the pod. */
  host?: string;
  /** Serve TLS. The context can be replaced while the server runs. */
  tls?: TlsOptions;
  /** Maximum size of a request body in bytes. Default: 64 KiB. */
  largestBody?: number;
  /** Bytes that the bodies of all requests under way may take. Default: eight of the largest. */
  allBodies?: number;
}

/** A server that listens. */
export interface HttpServer extends AsyncDisposable {
  readonly port: number;
  /** Uses these certificates for new connections. */
  setTls(options: TlsOptions): void;
  /** Waits for requests in progress, and closes. */
  close(): Promise<void>;
}

/** Clients that are slower hold memory, and connections. An API server waits for a webhook for 30 s at most. */
const TIMEOUTS = { headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 5_000 };

/** Serves a function from request to response on a port. */
export async function serveHttp(handler: Transport, options: ServeHttpOptions): Promise<HttpServer> {
  const { largestBody = 64 * 1024, allBodies = 8 * largestBody } = options;
  const bodies: Bodies = { largest: largestBody, budget: new BodyBudget(allBodies) };
  const busy = new Set<Socket>();
  let closing = false;
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    busy.add(request.socket);
    response.once("close", () => {
      busy.delete(request.socket);
      if (closing) request.socket.end();
    });
    void answer(handler, request, response, bodies);
  };
  const tlsServer = options.tls && nodeHttps().createServer({ ...TIMEOUTS, ...options.tls }, listener);
  const server: Server = tlsServer ?? nodeHttp().createServer(TIMEOUTS, listener);
  const open = new Set<Socket>();
  server.on(tlsServer ? "secureConnection" : "connection", (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, resolve);
  });
  const close = () =>
    new Promise<void>((resolve) => {
      closing = true;
      server.close(() => resolve());
      server.closeIdleConnections();
      // API servers open connections in advance. Those that never carried a request do not count as idle.
      for (const socket of open) if (!busy.has(socket)) socket.destroy();
    });
  return {
    port: (server.address() as AddressInfo).port,
    setTls: (tls) => tlsServer?.setSecureContext(tls),
    close,
    [Symbol.asyncDispose]: close,
  };
}

interface Bodies {
  readonly largest: number;
  readonly budget: BodyBudget;
}

async function answer(handler: Transport, request: IncomingMessage, response: ServerResponse, bodies: Bodies) {
  const { method = "GET", url = "/" } = request;
  // A client that is gone has no address, and is not one of this machine.
  const remoteAddress = request.socket.remoteAddress ?? "";
  try {
    const body = await bodyOf(request, bodies);
    if (typeof body === "number") {
      response.writeHead(body, { connection: "close" }).end();
      return;
    }
    const {
      status,
      headers,
      body: text,
    } = await handler({ method, path: url, headers: request.headers as HeaderMap, body, remoteAddress });
    response.writeHead(status, headers as Record<string, string>);
    response.end(method === "HEAD" ? undefined : await readText(text));
  } catch (error) {
    if (!response.headersSent) response.writeHead(500, { "content-type": "text/plain" });
    response.end(error instanceof Error ? error.message : String(error));
  }
}

/** The body of a request, or the status with which it is refused: too large (413), or too much at a time (503). */
async function bodyOf(request: IncomingMessage, { largest, budget }: Bodies): Promise<Buffer | 413 | 503> {
  const address = request.socket.remoteAddress ?? "";
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      if (size + chunk.length > largest) return 413;
      if (!budget.take(address, chunk.length)) return 503;
      size += chunk.length;
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } finally {
    budget.release(address, size);
  }
}
