import { createServer, type Server } from "node:net";

/** Free loopback ports, all different because all are held before the first is released. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(Array.from({ length: count }, listen));
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

function listen(): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer().unref();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => resolve(server));
  });
}
