import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import type { Random } from "@konverge/core";

/** Stands between clients and the server, on a port that stays, and cuts or holds connections in the middle of whatever they carry. */
export class Relay {
  readonly #server: Server;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  readonly #upstream: () => number;
  readonly #random: Random;
  #isStalled = false;
  /** Connections that were cut. */
  cuts = 0;

  /** `upstream` is the port of the server as it runs now. */
  constructor(upstream: () => number, random: Random) {
    this.#upstream = upstream;
    this.#random = random;
    this.#server = createServer((client) => this.#carry(client));
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  /** Cuts about this share of the connections, both halves at once. */
  cut(share: number): void {
    for (const [client] of [...this.#pairs]) if (this.#random.next() < share) this.#cut(client);
  }

  /** Holds everything back, or carries on with it. */
  stall(isStalled: boolean): void {
    this.#isStalled = isStalled;
    for (const pair of this.#pairs) for (const socket of pair) isStalled ? socket.pause() : socket.resume();
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const [client] of this.#pairs) client.destroy();
    await closed;
  }

  #cut(client: Socket): void {
    if (client.destroyed) return;
    this.cuts++;
    client.destroy();
  }

  #carry(client: Socket): void {
    const server = connect(this.#upstream(), "127.0.0.1");
    const pair = [client, server] as const;
    this.#pairs.add(pair);
    // Some are cut after a number of bytes: in the middle of a request, or of its response.
    const most = this.#random.below(10) === 0 ? 4_000 + this.#random.below(60_000) : Number.POSITIVE_INFINITY;
    let carried = 0;
    for (const [one, other] of [pair, [server, client] as const]) {
      one.setNoDelay(true);
      one.pipe(other);
      one.on("data", (chunk: Buffer) => {
        carried += chunk.length;
        if (carried > most) this.#cut(client);
      });
      if (this.#isStalled) one.pause();
      one.on("error", () => {});
      one.once("close", () => {
        other.destroy();
        this.#pairs.delete(pair);
      });
    }
  }
}
