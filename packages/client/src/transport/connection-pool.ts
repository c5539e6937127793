import { buildConnector, type Dispatcher, Pool } from "undici";
import type { TlsMaterial } from "./tls-material.ts";
import { tunnel } from "./tunnel.ts";

/**
 * How long an idle connection is kept. Servers drop theirs after 90 s; whoever writes to a connection that the server is
 * just dropping cannot know whether the write happened.
 */
const KEEP_ALIVE = 45_000;

/**
 * Kept-alive connections to one server. They carry the certificate they were made with, so new material means new
 * connections; the old ones finish what they have begun.
 */
export class ConnectionPool {
  readonly #server: URL;
  readonly #proxy: URL | undefined;
  #current: { tls: TlsMaterial; pool: Pool } | undefined;
  readonly #retired = new Set<Pool>();

  constructor(server: URL, proxy: URL | undefined) {
    this.#server = server;
    this.#proxy = proxy;
  }

  /** The connections that use this material. */
  with(tls: TlsMaterial): Dispatcher {
    if (this.#current && same(this.#current.tls, tls)) return this.#current.pool;
    if (this.#current) this.#retire(this.#current.pool);
    this.#current = { tls, pool: this.#create(tls) };
    return this.#current.pool;
  }

  async close(): Promise<void> {
    const pools = [...this.#retired, ...(this.#current ? [this.#current.pool] : [])];
    this.#current = undefined;
    await Promise.all(pools.map((pool) => pool.destroy()));
  }

  #retire(pool: Pool): void {
    this.#retired.add(pool);
    void pool.close().then(() => this.#retired.delete(pool));
  }

  #create(tls: TlsMaterial): Pool {
    const connect = buildConnector({ ...tls, allowH2: false });
    return new Pool(this.#server.origin, {
      connect: this.#proxy ? throughProxy(this.#proxy, connect) : connect,
      // Deadlines and silence are the caller's business, by its own clock.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE,
      keepAliveMaxTimeout: KEEP_ALIVE,
    });
  }
}

function throughProxy(proxy: URL, connect: buildConnector.connector): buildConnector.connector {
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
