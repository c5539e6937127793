import type { Duplex } from "node:stream";
import { badRequest, drained } from "@konverge/core";
import type { Pod } from "@konverge/kinds";
import type { PodNetwork } from "./pod-network.ts";
import { relayed } from "./relayed.ts";
import type { PairedSocket } from "./socket-pair.ts";

/** The older way to forward ports through a WebSocket, which clients other than kubectl use. */
export const CHANNEL_PROTOCOL = "v4.channel.k8s.io";

/** The ports that a request names: each parameter may hold several. */
export function forwardedPorts(query: URLSearchParams): number[] {
  const given = query.getAll("ports");
  if (given.length === 0) throw badRequest('query parameter "port" is required');
  return given.flatMap((text) =>
    text.split(",").map((one) => {
      const port = /^\d+$/.test(one) ? Number(one) : 0;
      if (port < 1 || port > 65535) throw badRequest(`unable to parse "${text}" as a port`);
      return port;
    }),
  );
}

/**
 * Forwards ports by channels: of each port, one for its bytes and the next for what went wrong. Each begins with the
 * port's number, and a port is one connection. Resolves when the pod has ended all connections, or the client
 * has gone.
 */
export async function forwardByChannels(
  network: PodNetwork,
  pod: Pod,
  ports: readonly number[],
  socket: PairedSocket,
): Promise<void> {
  const closed: Promise<void>[] = [];
  const connections: Promise<Duplex | undefined>[] = [];
  ports.forEach((port, i) => {
    const send = (channel: number, content: Uint8Array) =>
      socket.send(Buffer.concat([Buffer.from([channel]), content]));
    const number = Buffer.from([port & 0xff, port >> 8]);
    send(2 * i, number);
    send(2 * i + 1, number);
    const connection = dial(network, pod, port, (text) => send(2 * i + 1, Buffer.from(text)));
    connections.push(connection);
    closed.push(connection.then((one) => one && relayed(one, (chunk) => send(2 * i, chunk)).catch(() => {})));
  });
  const client = deliver(socket, connections).finally(() => {
    for (const connection of connections) void connection.then((one) => one?.destroy());
  });
  await Promise.race([Promise.all(closed), client]);
}

async function dial(
  network: PodNetwork,
  pod: Pod,
  port: number,
  complain: (text: string) => void,
): Promise<Duplex | undefined> {
  try {
    return await network.dial(pod, port);
  } catch (failure) {
    const { name, uid } = pod.metadata;
    const why = failure instanceof Error ? failure.message : String(failure);
    complain(
      `error forwarding port ${port} to pod ${name}, uid ${uid}: failed to connect to localhost:${port} inside the pod: ${why}`,
    );
    return undefined;
  }
}

async function deliver(socket: PairedSocket, connections: readonly Promise<Duplex | undefined>[]): Promise<void> {
  for await (const message of socket.messages) {
    const bytes = typeof message === "string" ? Buffer.from(message) : message;
    const channel = bytes[0] ?? 0;
    // Data on the error channels are ignored.
    const connection = channel % 2 === 0 ? await connections[channel / 2] : undefined;
    if (!connection || connection.destroyed || connection.write(bytes.subarray(1))) continue;
    await drained(connection);
  }
}
