import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { drained, type HeaderMap, headerValues, type MessageSocket } from "@konverge/core";

/**
 * Switches a client's connection to another protocol and carries its bytes both ways, whatever they mean, until either side
 * ends. `head` is what the client has sent already.
 */
export async function tunnel(outer: Duplex, head: Buffer, headers: HeaderMap, inner: MessageSocket): Promise<void> {
  const lines = [`HTTP/1.1 101 ${STATUS_CODES[101]}`, "connection: Upgrade"];
  for (const name of Object.keys(headers)) {
    for (const value of headerValues(headers, name)) lines.push(`${name}: ${value}`);
  }
  outer.write(`${lines.join("\r\n")}\r\n\r\n`);
  void carryIn(outer, head, inner).then(
    () => inner.close(1000),
    () => inner.close(1006),
  );
  try {
    for await (const bytes of inner.messages) {
      if (!outer.writable) return;
      if (!outer.write(bytes)) await drained(outer);
    }
    outer.end();
  } catch {
    // The other side broke off: so does this one.
    outer.destroy();
  }
}

async function carryIn(outer: Duplex, head: Buffer, inner: MessageSocket): Promise<void> {
  if (head.length > 0) await inner.send(head);
  for await (const bytes of outer) await inner.send(bytes as Buffer);
}
