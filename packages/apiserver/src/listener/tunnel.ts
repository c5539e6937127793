import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { type HeaderMap, headerValues, type MessageSocket } from "@konverge/core";

/**
 * Switches a client's connection to another protocol and carries its bytes both ways, whatever they mean, until either side
 * ends. `head` is what the client has sent already.
 */
export async function tunnel(outer: Duplex, head: Buffer, headers: HeaderMap, inner: MessageSocket): Promise<void> {
  const lines = [`HTTP/1.1 101 ${STATUS_CODES[101]}`];
  for (const name of Object.keys(headers)) {
    for (const value of headerValues(headers, name)) lines.push(`${name}: ${value}`);
  }
  outer.write(`${[...lines, `upgrade: ${inner.protocol}`, "connection: Upgrade"].join("\r\n")}\r\n\r\n`);
  if (head.length > 0) inner.send(head);
  outer.on("data", (bytes: Buffer) => inner.send(bytes));
  outer.once("close", () => inner.close());
  outer.once("end", () => inner.close());
  try {
    for await (const bytes of inner.messages) {
      if (outer.destroyed) return;
      if (!outer.write(bytes)) await drained(outer);
    }
    outer.end();
  } catch {
    // The other side broke off: so does this one.
    outer.destroy();
  }
}

function drained(connection: Duplex): Promise<void> {
  return new Promise((resolve) => {
    connection.once("drain", resolve);
    connection.once("close", resolve);
  });
}
