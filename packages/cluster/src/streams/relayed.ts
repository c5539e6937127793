import type { Duplex } from "node:stream";

/**
 * Hands on what the other side of a connection says, no faster than it is taken. Resolves when it has no more to say, and
 * rejects when the connection breaks.
 */
export function relayed(connection: Duplex, send: (chunk: Uint8Array) => Promise<void> | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.on("data", (chunk: Uint8Array) => {
      const room = send(chunk);
      if (!room) return;
      connection.pause();
      void room.then(() => connection.resume());
    });
    connection.once("error", reject);
    connection.once("end", () => resolve());
    connection.once("close", () => resolve());
  });
}
