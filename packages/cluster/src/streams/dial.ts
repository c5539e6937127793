import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";

/** Opens a connection over the machine's network. */
export async function dial(host: string, port: number, signal?: AbortSignal): Promise<Socket> {
  const socket = connect({ host, port });
  try {
    // Not given to the socket itself: it would throw when the request ends, where nothing listens for its errors.
    await once(socket, "connect", { ...(signal && { signal }) });
    return socket;
  } catch (error) {
    abandon(socket);
    throw error;
  }
}

/** Destroys an unused stream, ignoring its errors. */
export function abandon(stream: Duplex): void {
  stream.on("error", () => {});
  stream.destroy();
}

/** What alerts of a TLS server mean, as Go words them. */
const ALERTS: Readonly<Record<string, string>> = {
  40: "handshake failure",
  42: "bad certificate",
  45: "expired certificate",
  46: "unknown certificate",
  48: "unknown certificate authority",
  70: "protocol version not supported",
  80: "internal error",
  112: "unrecognized name",
  116: "certificate required",
};

/** What a Go client would say about a connection that failed: users search for these words. */
export function inGoWords(error: unknown, host: string): string {
  const { code, address, port, message, errors } = error as NodeJS.ErrnoException & {
    address?: string;
    port?: number;
    errors?: Error[];
  };
  // A name with several addresses: what went wrong with the last of them.
  if (errors?.length) return inGoWords(errors.at(-1), host);
  const alert = ALERTS[/SSL alert number (\d+)/.exec(message ?? "")?.[1] ?? ""];
  if (alert) return `remote error: tls: ${alert}`;
  switch (code) {
    case "ECONNREFUSED":
      return `dial tcp ${address?.includes(":") ? `[${address}]` : address}:${port}: connect: connection refused`;
    case "ENOTFOUND":
      return `dial tcp: lookup ${host}: no such host`;
    case "ECONNRESET":
      return /socket hang up|before secure TLS/.test(message) ? "EOF" : "read: connection reset by peer";
    case "ERR_SSL_WRONG_VERSION_NUMBER":
      return "tls: first record does not look like a TLS handshake";
    default:
      return message ?? String(error);
  }
}
