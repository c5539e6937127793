import { createSocket } from "node:dgram";
import { getServers } from "node:dns";
import { connect } from "node:net";

/** How long a name server may take, in milliseconds; then the next one is asked. */
const PATIENCE = 2_000;
const PORT = 53;

/** Asks the machine's own name servers, one after the other. The message goes there as it is, by the way it came. */
export async function forward(
  message: Buffer,
  protocol: "udp" | "tcp",
  servers: readonly string[] = getServers(),
): Promise<Buffer | undefined> {
  for (const server of servers) {
    const { host, port } = addressOf(server);
    const answer = await (protocol === "udp" ? overUdp : overTcp)(message, host, port).catch(() => undefined);
    if (answer) return answer;
  }
  return undefined;
}

/** `10.0.0.1`, `10.0.0.1:5353`, `[::1]:53`, `::1`. */
function addressOf(server: string): { host: string; port: number } {
  const [, bracketed, plain, port] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(server) ?? [];
  return { host: bracketed ?? plain ?? server, port: Number(port ?? PORT) };
}

function overUdp(message: Buffer, host: string, port: number): Promise<Buffer> {
  const socket = createSocket(host.includes(":") ? "udp6" : "udp4");
  return new Promise<Buffer>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("timeout")), PATIENCE);
    socket.once("error", reject);
    socket.on("message", (answer) => {
      // Only what answers this very question.
      if (answer.length < 12 || !answer.subarray(0, 2).equals(message.subarray(0, 2))) return;
      clearTimeout(timer);
      resolve(answer);
    });
    // A connected socket takes answers from that server alone.
    socket.connect(port, host, () => socket.send(message));
  }).finally(() => socket.close());
}

function overTcp(message: Buffer, host: string, port: number): Promise<Buffer> {
  const socket = connect({ host, port });
  return new Promise<Buffer>((resolve, reject) => {
    let received = Buffer.alloc(0);
    socket.setTimeout(PATIENCE, () => reject(new Error("timeout")));
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("closed")));
    socket.once("connect", () => socket.write(framed(message)));
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (received.length >= 2 && received.length >= 2 + received.readUInt16BE()) {
        resolve(received.subarray(2, 2 + received.readUInt16BE()));
      }
    });
  }).finally(() => socket.destroy());
}

/** As messages are sent over TCP: their length first. */
export function framed(message: Uint8Array): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
}
