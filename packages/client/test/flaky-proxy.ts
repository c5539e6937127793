import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A wire to a server that can be cut, frozen and frayed. */
export interface FlakyProxy extends AsyncDisposable {
  port: number;
  /** Cuts all connections. */
  cut(): void;
  /** Closes each connection after this many bytes of responses; undefined: no longer. */
  cutAfter(bytes: number | undefined): void;
  /** The connections there are carry nothing any more, without a word to either side, as after a lost route. */
  freeze(): void;
  /** Connections that have been made. */
  readonly connections: number;
}

export async function flakyProxy(targetPort: number): Promise<FlakyProxy> {
  const pairs = new Set<[Socket, Socket]>();
  const frozen = new Set<[Socket, Socket]>();
  let limit: number | undefined;
  let connections = 0;
  const server = createServer((client) => {
    connections++;
    const target = connect(targetPort, "127.0.0.1");
    const pair: [Socket, Socket] = [client, target];
    pairs.add(pair);
    const end = () => {
      client.destroy();
      target.destroy();
      pairs.delete(pair);
    };
    let passed = 0;
    client.on("data", (chunk) => !frozen.has(pair) && target.write(chunk));
    target.on("data", (chunk) => {
      if (frozen.has(pair)) return;
      passed += chunk.length;
      const excess = limit === undefined ? 0 : passed - limit;
      if (excess > 0) client.write(chunk.subarray(0, Math.max(0, chunk.length - excess)), end);
      else client.write(chunk);
    });
    for (const socket of pair) socket.on("error", end).on("close", end);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cut = () => {
    for (const [client, target] of pairs) {
      client.destroy();
      target.destroy();
    }
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    cutAfter: (bytes) => {
      limit = bytes;
    },
    freeze: () => {
      for (const pair of pairs) frozen.add(pair);
    },
    get connections() {
      return connections;
    },
    async [Symbol.asyncDispose]() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
