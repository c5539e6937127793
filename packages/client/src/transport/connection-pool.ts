import type { buildConnector as Connect, Dispatcher } from "undici";
// By these names because the front door loads much more: see undici-parts.d.ts.
import buildConnector from "undici/lib/core/connect.js";
import Pool from "undici/lib/dispatcher/pool.js";
import type { TlsMaterial } from "./tls-material.ts";
import { tunnel } from "./tunnel.ts";

/**
 * How long an idle connection is kept. Servers close theirs after 90 s; a client that writes to a connection that the
 * server is just dropping cannot know whether the write happened.
 */
const KEEP_ALIVE = 45_000;

/** Connections that HTTP/2 spreads its streams over: room for some hundred watches. */
const SHARED_CONNECTIONS = 8;

/**
 * Kept-alive connections to one server. They carry the certificate they were made with, so new material means new
 * connections; the old ones finish what they have begun.
 */
export class ConnectionPool {
  readonly #server: URL;
  readonly #proxy: URL | undefined;
  readonly #http2: boolean;
  #current: { tls: TlsMaterial; pool: Pool } | undefined;
  readonly #retired = new Set<Pool>();

  constructor(server: URL, options: { proxy: URL | undefined; http2: boolean }) {
    this.#server = server;
    this.#proxy = options.proxy;
    this.#http2 = options.http2;
  }

  /** The connections that use this material. */
  with(tls: TlsMaterial): Dispatcher {
    if (this.#current && same(this.#current.tls, tls)) return this.#current.pool;
    if (this.#current) this.#retire(this.#current.pool);
    this.#current = { tls, pool: this.#create(tls) };
    return this.#current.pool;
  }

  /** The server has fallen silent on one connection, so the others may be dead too: later requests get new ones. */
  suspect(): void {
    if (this.#current) this.#retire(this.#current.pool);
    this.#current = undefined;
  }

  async close(): Promise<void> {
    const pools = [...this.#retired, ...(this.#current ? [this.#current.pool] : [])];
    this.#current = undefined;
    await Promise.all(pools.map((pool) => pool.destroy()));
  }

  #retire(pool: Pool): void {
    this.#retired.add(pool);
    const forget = () => void this.#retired.delete(pool);
    pool.close().then(forget, forget);
  }

  #create(tls: TlsMaterial): Pool {
    const connect = buildConnector({ ...tls, allowH2: this.#http2, ...(this.#http2 && { preferH2: true }) });
    return new Pool(this.#server.origin, {
      connect: this.#proxy ? throughProxy(this.#proxy, connect) : connect,
      ...(this.#http2 && { allowH2: true, connections: SHARED_CONNECTIONS }),
      // Deadlines and silence are the caller's business, by its own clock.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE,
      keepAliveMaxTimeout: KEEP_ALIVE,
    });
  }
}

function throughProxy(proxy: URL, connect: Connect.connector): Connect.connector {
  return (options, callback) => {
    const port = Number(options.port) || (options.protocol === "https:" ? 443 : 80);
    tunnel(proxy, options.hostname.replace(/^\[|\]$/g, ""), port).then(
      (socket) => {
        if (options.protocol === "https:") connect({ ...options, httpSocket: socket }, callback);
        else callback(null, socket);
      },
      (error: Error) => callback(error, null),
    );
  };
}

function same(a: TlsMaterial, b: TlsMaterial): boolean {
  return (
    a.ca === b.ca &&
    a.cert === b.cert &&
    a.key === b.key &&
    a.servername === b.servername &&
    a.rejectUnauthorized === b.rejectUnauthorized
  );
}
