import { createServer, type Socket } from "node:net";
import type { PodConnection, PortListener } from "./port-connection.ts";

/** Forwards each connection to a local port through a separate connection. */
export async function listenFor(
  connect: () => PodConnection,
  { localPort = 0, host = "127.0.0.1" }: { localPort?: number; host?: string },
): Promise<PortListener> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    join(socket, connect);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(localPort, host, resolve);
  });
  const address = server.address();
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return { port: typeof address === "object" ? address!.port : 0, close, [Symbol.asyncDispose]: close };
}

function join(socket: Socket, connect: () => PodConnection): void {
  socket.on("error", () => {});
  let remote: PodConnection;
  try {
    remote = connect();
  } catch {
    socket.destroy();
    return;
  }
  socket.on("data", (chunk) => remote.write(chunk));
  socket.once("end", () => remote.end());
  socket.once("close", () => remote.close());
  void (async () => {
    try {
      for await (const chunk of remote.readable) {
        if (!socket.write(chunk)) await Promise.race([event(socket, "drain"), event(socket, "close")]);
      }
      socket.end();
    } catch {
      socket.destroy();
    }
  })();
}

function event(socket: Socket, name: string): Promise<void> {
  return new Promise((resolve) => socket.once(name, () => resolve()));
}
