import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { ServerOptions as TlsOptions } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { type HeaderMap, readText, type Transport } from "@konverge/core";
import { nodeHttp, nodeHttps } from "./on-demand.ts";

export interface ServeHttpOptions {
  /** 0: a free port. */
  port: number;
  /** Default: all interfaces, since requests come from outside the pod. */
  host?: string;
  /** Serve TLS. The context can be replaced while the server runs. */
  tls?: TlsOptions;
  /** Maximum size of a request body in bytes. Default: 8 MiB. */
  largestBody?: number;
}

/** A server that listens. */
export interface HttpServer extends AsyncDisposable {
  readonly port: number;
  /** Uses these certificates for new connections. */
  setTls(options: TlsOptions): void;
  /** Waits for requests in progress, and closes. */
  close(): Promise<void>;
}

const DEFAULT_LARGEST_BODY = 8 * 1024 * 1024;

/** Serves a function from request to response on a port. */
export async function serveHttp(handler: Transport, options: ServeHttpOptions): Promise<HttpServer> {
  const busy = new Set<Socket>();
  let closing = false;
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    busy.add(request.socket);
    response.once("close", () => {
      busy.delete(request.socket);
      if (closing) request.socket.end();
    });
    void answer(handler, request, response, options.largestBody ?? DEFAULT_LARGEST_BODY);
  };
  const tlsServer = options.tls && nodeHttps().createServer(options.tls, listener);
  const server: Server = tlsServer ?? nodeHttp().createServer(listener);
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

async function answer(handler: Transport, request: IncomingMessage, response: ServerResponse, largest: number) {
  const { method = "GET", url = "/" } = request;
  try {
    const body = await bodyOf(request, largest);
    if (body === undefined) {
      response.writeHead(413).end();
      return;
    }
    const {
      status,
      headers,
      body: text,
    } = await handler({ method, path: url, headers: request.headers as HeaderMap, body });
    response.writeHead(status, headers as Record<string, string>);
    response.end(method === "HEAD" ? undefined : await readText(text));
  } catch (error) {
    if (!response.headersSent) response.writeHead(500, { "content-type": "text/plain" });
    response.end(error instanceof Error ? error.message : String(error));
  }
}

async function bodyOf(request: IncomingMessage, largest: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > largest) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
