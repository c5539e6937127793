/**
 * The way in for clients of any language: a port that speaks HTTP/1.1, HTTP/2 and WebSocket behind TLS, and the certificates
 * and kubeconfig that go with it.
 *
 * {@link listen} turns what comes over sockets into requests of the one transport that everything here speaks, and its
 * answers back. It takes a bare transport for programs on this machine, and a Guard for all others. It promises that a
 * slow or vanished client costs its own stream and a bounded buffer, and nothing else.
 */
import { createServer, type IncomingMessage, type Server } from "node:http";
import { createSecureServer, type Http2SecureServer, type ServerHttp2Session } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import {
  ApiError,
  type ApiRequest,
  type ApiResponse,
  type Clock,
  forbidden,
  type HeaderMap,
  realClock,
  stringifyJson,
  type Transport,
} from "@konverge/core";
import type { Peer } from "../auth/peer.ts";
import type { User } from "../auth/user.ts";
import { Guard } from "../guard.ts";
import { readBody as bodyOf, discardBody } from "./body.ts";
import { BodyBudget, type HeldBytes } from "./body-budget.ts";
import { connectionPeer } from "./connection-peer.ts";
import { headersOf, type Incoming, LARGEST_HEAD, MOST_HEADERS, pathOf } from "./incoming.ts";
import { isFromThisMachine, isLoopback } from "./loopback.ts";
import { acceptsGzip, breakOff, ConnectionReset, isAbandoned, type Outgoing, StalledClient, send } from "./outgoing.ts";
import { requestProblem } from "./request-problem.ts";
import { endWhenDead } from "./silent-session.ts";
import { isWebSocket, offeredProtocols, refuse, Upgrades } from "./upgrade.ts";

/** Where and how to listen. */
export interface ListenOptions {
  /** Default 0: any that is free. */
  port?: number;
  /** Default 127.0.0.1. Beyond loopback only a {@link Guard} behind TLS is served. */
  host?: string;
  /** The server's certificate; or `plain`, for HTTP without TLS, on loopback alone. */
  tls: TlsOptions | "plain";
  /** Larger bodies are refused with 413. Default 3 MiB, as in a real server. */
  largestBody?: number;
  /**
   * The most bytes of bodies that are kept at a time, of requests under way; beyond it 429 is answered. Behind a {@link Guard} a
   * quarter is for administrators alone, a sixteenth for all unauthenticated clients, and no user has more than a quarter.
   * Default 256 MiB.
   */
  mostBodies?: number;
  /** How long close() waits for answers that are under way, in milliseconds. Default 5,000. */
  grace?: number;
  /** How long an HTTP/2 connection may be silent, and its client then take to answer a ping, in milliseconds. Default 60,000. */
  silence?: number;
  /** Called with errors of the server itself: the client only gets a 500. */
  onError?(error: unknown, request: { method: string; path: string }): void;
  clock?: Clock;
}

/** PEM. */
export interface TlsOptions {
  cert: string;
  key: string;
  /** The authorities whose client certificates are believed. Certificates are asked for, and never required. */
  clientCa?: string;
}

/** An open port. */
export interface Listener extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  readonly url: string;
  /** Takes no new connections, ends streams, lets other answers finish for a while, and cuts what is left. */
  close(): Promise<void>;
}

const LARGEST_BODY = 3 * 1024 * 1024;
const GRACE = 5000;
const SILENCE = 60_000;
/** As Go's server under a real API server: longer than clients keep idle connections, so that none is cut in use. */
const KEEP_ALIVE = 90_000;
/** The limits of a real API server: on the time that a request's head takes, and on what HTTP/2 may send. */
const HEAD_PATIENCE = 32_000;
const STREAM_WINDOW = 256 * 1024;
const SESSION_WINDOW = 100 * STREAM_WINDOW;
/** More than a real server allows: Node counts streams that are over until it is done with them. */
const STREAMS = 1000;
/** A real server limits how many requests are under way, and so what their bodies take. */
const MOST_BODIES = 256 * 1024 * 1024;

/**
 * Serves a transport on a port: HTTP/1.1 and HTTP/2 over TLS (the client chooses), WebSockets on HTTP/1.1.
 *
 * Guarantees: a slow client makes its own stream wait and nothing else; a client that disconnects ends its stream, through the
 * request's signal; a bare transport, which does not authenticate, is never reachable from another machine.
 */
export async function listen(target: Transport | Guard, options: ListenOptions): Promise<Listener> {
  const host = options.host ?? "127.0.0.1";
  checkExposure(target, host, options.tls);
  const service = new Service(target, options);
  const server = options.tls === "plain" ? plainServer() : secureServer(options.tls);
  // HTTP/2 has an option for it.
  (server as Server).maxHeadersCount = MOST_HEADERS;
  service.attach(server);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(cannotListen(error, host, options.port ?? 0)));
    server.listen(options.port ?? 0, host, () => resolve());
  });
  const { port } = server.address() as AddressInfo;
  const close = () => service.close(server);
  const scheme = options.tls === "plain" ? "http" : "https";
  const address = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const url = `${scheme}://${address}`;
  if (target instanceof Guard) target.listening(address);
  return { host, port, url, close, [Symbol.asyncDispose]: close };
}

function checkExposure(target: Transport | Guard, host: string, tls: ListenOptions["tls"]): void {
  if (isLoopback(host)) return;
  if (!(target instanceof Guard)) {
    throw new Error(
      `refusing to listen on ${host} without authentication: every machine on the network would have all permissions. Listen on 127.0.0.1, or serve a Guard, which authenticates requests.`,
    );
  }
  if (tls === "plain") {
    throw new Error(
      `refusing to listen on ${host} without TLS: tokens could be read on the way. Give a certificate, or listen on 127.0.0.1.`,
    );
  }
}

function cannotListen(error: Error & { code?: string }, host: string, port: number): Error {
  const why =
    error.code === "EADDRINUSE"
      ? "the port is in use: choose another one, or 0 for any that is free"
      : error.code === "EACCES"
        ? "this user may not use that port: choose one above 1023"
        : error.message;
  return new Error(`cannot listen on ${host}, port ${port}: ${why}`, { cause: error });
}

function secureServer({ cert, key, clientCa }: TlsOptions): Http2SecureServer {
  return createSecureServer({
    cert,
    key,
    allowHTTP1: true,
    ...HEAD_LIMITS,
    http1Options: { keepAliveTimeout: KEEP_ALIVE },
    ...(clientCa && { ca: clientCa, requestCert: true, rejectUnauthorized: false }),
    settings: {
      maxConcurrentStreams: STREAMS,
      initialWindowSize: STREAM_WINDOW,
      maxHeaderListSize: LARGEST_HEAD,
    },
    maxHeaderListPairs: MOST_HEADERS,
    // In megabytes: a piece of an answer for each stream, and as much again for what Node itself keeps.
    maxSessionMemory: 128,
  });
}

/** Node's own options of both servers. */
const HEAD_LIMITS = { maxHeaderSize: LARGEST_HEAD, headersTimeout: HEAD_PATIENCE } as object;

function plainServer(): Server {
  return createServer({
    ...HEAD_LIMITS,
    keepAliveTimeout: KEEP_ALIVE,
    // Clients offer h2c as well: that is no reason not to answer them in HTTP/1.1.
    shouldUpgradeCallback: ({ headers }: IncomingMessage) => !/^h2c$/i.test(headers.upgrade ?? ""),
  } as Parameters<typeof createServer>[0]);
}

/** Everything between the sockets and the target. */
class Service {
  readonly #target: Transport | Guard;
  readonly #options: ListenOptions;
  readonly #clock: Clock;
  readonly #upgrades = new Upgrades();
  readonly #sockets = new Set<Socket>();
  /** Connections that speak another protocol by now. */
  readonly #sessions = new Set<ServerHttp2Session>();
  /** Of requests that are under way; those that stream are aborted when the server closes. */
  readonly #streaming = new Set<AbortController>();
  readonly #peers = new WeakMap<object, Peer>();
  /** What the bodies take that have been read and not yet been answered. */
  readonly #bodies: BodyBudget;
  #closing: Promise<void> | undefined;

  constructor(target: Transport | Guard, options: ListenOptions) {
    this.#target = target;
    this.#options = options;
    this.#clock = options.clock ?? realClock();
    this.#bodies = new BodyBudget(options.mostBodies ?? MOST_BODIES);
  }

  attach(server: Server | Http2SecureServer): void {
    const isSecure = this.#options.tls !== "plain";
    server.on(isSecure ? "secureConnection" : "connection", (socket: Socket) => {
      socket.setNoDelay(true);
      // A machine that vanished says no goodbye; its watches must not stay forever.
      socket.setKeepAlive(true, 30_000);
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
      socket.on("error", () => {});
    });
    (server as Http2SecureServer).on("session", (session) => {
      this.#sessions.add(session);
      // Many streams can send at once what each may send.
      session.setLocalWindowSize(SESSION_WINDOW);
      session.on("close", () => this.#sessions.delete(session));
      session.on("error", () => {});
      endWhenDead(session, this.#options.silence ?? SILENCE);
    });
    server.on("request", (incoming: Incoming, outgoing: Outgoing) => void this.#serve(incoming, outgoing));
    server.on("upgrade", (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
      void this.#upgrade(incoming, socket, head);
    });
    // Connections that never get as far as a request.
    server.on("clientError", (error: Error & { code?: string }, socket: Duplex) => {
      if (socket.writable) socket.end(requestProblem(error.code));
      else socket.destroy();
    });
    server.on("tlsClientError", () => {});
  }

  close(server: Server | Http2SecureServer): Promise<void> {
    this.#closing ??= this.#shutDown(server);
    return this.#closing;
  }

  async #shutDown(server: Server | Http2SecureServer): Promise<void> {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    const deadline = this.#clock.after(this.#options.grace ?? GRACE, () => {
      for (const socket of this.#sockets) socket.destroy();
    });
    for (const controller of this.#streaming) controller.abort(new Error("the server is shutting down"));
    this.#upgrades.close();
    for (const session of this.#sessions) session.close();
    (server as Server).closeIdleConnections();
    await closed;
    deadline.cancel();
  }

  async #serve(incoming: Incoming, outgoing: Outgoing): Promise<void> {
    const controller = new AbortController();
    const disconnected = () => controller.abort(new Error("the client is gone"));
    outgoing.on("close", disconnected);
    outgoing.on("error", () => {});
    const method = incoming.method ?? "GET";
    let headers: HeaderMap = {};
    let response: ApiResponse;
    let held: HeldBytes | undefined;
    const readBody = (user?: User) => {
      held = this.#bodies.open(user);
      return bodyOf(incoming, { largest: this.#largestBody, held, clock: this.#clock });
    };
    try {
      headers = headersOf(incoming);
      response = await this.#answer(
        { method, path: pathOf(incoming), headers, signal: controller.signal },
        incoming,
        readBody,
      );
    } catch (error) {
      if (isAbandoned(outgoing)) return;
      if (error instanceof ConnectionReset) return breakOff(outgoing);
      response = this.#failure(error, method, incoming.url);
    } finally {
      held?.release();
    }
    const isUnread = !held && !incoming.complete && !outgoing.stream;
    if (isUnread) discardBody(incoming as IncomingMessage, this.#largestBody, this.#clock);
    const isStream = typeof response.body !== "string" && !(response.body instanceof Uint8Array);
    if (isStream) {
      this.#streaming.add(controller);
      if (this.#closing) controller.abort(new Error("the server is shutting down"));
    }
    try {
      await send(outgoing, response, {
        withoutBody: method === "HEAD",
        acceptsGzip: acceptsGzip(headers),
        // What is left of a body that was read in part is no request.
        last: this.#closing !== undefined || !(incoming.complete || isUnread),
        clock: this.#clock,
      });
    } catch (error) {
      breakOff(outgoing);
      if (!controller.signal.aborted && !isExpected(error))
        this.#options.onError?.(error, { method, path: incoming.url ?? "" });
    } finally {
      this.#streaming.delete(controller);
      outgoing.off("close", disconnected);
      // A complete response needs no signal; only streams have to end when the client disconnects.
      if (isStream) disconnected();
      // The head of a stream, sent long before, did not say that it would be the last answer on this connection.
      if (this.#closing && isStream && !outgoing.stream) incoming.socket.end();
    }
  }

  async #upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const controller = new AbortController();
    const disconnected = () => controller.abort(new Error("the client is gone"));
    socket.on("close", disconnected);
    socket.on("error", () => {});
    const method = incoming.method ?? "GET";
    try {
      const upgrade = offeredProtocols(incoming);
      const other = isWebSocket(incoming) ? undefined : (incoming.headers.upgrade ?? "");
      const request: ApiRequest = {
        method,
        path: pathOf(incoming),
        headers: headersOf(incoming),
        signal: controller.signal,
        // Without either, nothing is begun that the client could not see the end of.
        ...(upgrade && { upgrade }),
        ...(other !== undefined && { tunnel: other }),
      };
      const response = await this.#answer(request, incoming, async () => undefined);
      if (response.status === 101 && response.socket && response.socket.protocol === other) {
        await this.#upgrades.tunnel(socket, head, response.headers, response.socket);
        return;
      }
      // A user without permission gets that answer, whatever protocol was offered.
      const isRefused = response.status >= 400 && !String(response.body).includes("unable to upgrade");
      if (!upgrade && !isRefused) throw unknownUpgrade(incoming.headers.upgrade);
      if (controller.signal.aborted) response.socket?.close(1006);
      else await this.#upgrades.complete(incoming, socket, head, response, this.#clock);
    } catch (error) {
      if (!controller.signal.aborted) await refuse(socket, this.#failure(error, method, incoming.url), this.#clock);
    }
  }

  get #largestBody(): number {
    return this.#options.largestBody ?? LARGEST_BODY;
  }

  async #answer(
    request: ApiRequest,
    incoming: Incoming,
    readBody: (user?: User) => Promise<Uint8Array | undefined>,
  ): Promise<ApiResponse> {
    if (this.#target instanceof Guard) return this.#target.handle(request, this.#peerOf(incoming), readBody);
    if (!isFromThisMachine(request.headers)) {
      const why =
        "this server accepts requests from its own machine only, and the Host or Origin of this request is another machine";
      throw forbidden({ group: "", plural: "" }, "", why);
    }
    const body = await readBody();
    return this.#target({ ...request, ...(body !== undefined && { body }) });
  }

  #peerOf(incoming: Incoming): Peer {
    const connection = "stream" in incoming ? incoming.stream.session! : incoming.socket;
    let peer = this.#peers.get(connection);
    if (!peer) {
      peer = connectionPeer("stream" in incoming ? incoming.stream.session!.socket : incoming.socket);
      this.#peers.set(connection, peer);
    }
    return peer;
  }

  #failure(error: unknown, method: string, path = ""): ApiResponse {
    if (!(error instanceof ApiError)) this.#options.onError?.(error, { method, path });
    const known =
      error instanceof ApiError
        ? error
        : new ApiError({
            code: 500,
            reason: "InternalError",
            message: "Internal error occurred: see the server's log",
          });
    const body = `${stringifyJson(known.status)}\n`;
    return { status: known.code, headers: { "content-type": "application/json" }, body };
  }
}

/** What says nothing about the server. */
function isExpected(error: unknown): boolean {
  return error instanceof StalledClient || error instanceof ConnectionReset;
}

function unknownUpgrade(protocol = ""): ApiError {
  const message = `this server upgrades to WebSocket and SPDY/3.1 alone, not to ${protocol}`;
  return new ApiError({ code: 400, reason: "BadRequest", message });
}
