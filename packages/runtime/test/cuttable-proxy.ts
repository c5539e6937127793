import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A way to a server that can be cut: connections then neither break nor carry anything, and new ones lead nowhere. */
export interface CuttableProxy {
  readonly port: number;
  cut(): void;
  restore(): void;
  close(): void;
}

export async function cuttableProxy(target: URL): Promise<CuttableProxy> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    sockets.add(near);
    if (isCut) return near.pause();
    const far = connect(Number(target.port), target.hostname);
    sockets.add(far);
    near.pipe(far);
    far.pipe(near);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on("error", () => other.destroy());
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      isCut = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    /** A connection that was cut breaks now, as after a router's restart. */
    restore() {
      isCut = false;
      for (const socket of sockets) socket.destroy();
      sockets.clear();
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
