import type { Duplex } from "node:stream";
import type { MessageSocket } from "@konverge/core";

/** Lets a connection wait while the client does not take what it has sent. */
export function waitFor(socket: MessageSocket, connection: Duplex): void {
  const full = socket.full?.();
  if (!full) return;
  connection.pause();
  void full.then(() => connection.resume());
}
