import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import type { Random } from "@konverge/core";

/** Stands between clients and the server, on a port that stays, and cuts connections in the middle of whatever they carry. */
export class Relay {
  readonly #server: Server;
  readonly #clients = new Set<Socket>();
  readonly #upstream: () => number;
  /** Connections that were cut. */
  cuts = 0;

  /** `upstream` says at which port the server is now. */
  constructor(upstream: () => number) {
    this.#upstream = upstream;
    this.#server = createServer((client) => this.#carry(client));
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  /** Cuts about this share of the connections, both halves at once. */
  cut(share: number, random: Random): void {
    for (const client of [...this.#clients]) {
      if (random.next() >= share) continue;
      this.cuts++;
      client.destroy();
    }
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const client of this.#clients) client.destroy();
    await closed;
  }

  #carry(client: Socket): void {
    const server = connect(this.#upstream(), "127.0.0.1");
    this.#clients.add(client);
    client.setNoDelay(true);
    server.setNoDelay(true);
    client.pipe(server).pipe(client);
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.on("error", () => {});
      one.once("close", () => {
        other.destroy();
        this.#clients.delete(client);
      });
    }
  }
}
