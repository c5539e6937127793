import { once } from "node:events";
import { connect, type IncomingHttpHeaders } from "node:http2";
import type { Duplex } from "node:stream";

const SERVING = 1;
const STATES: Readonly<Record<number, string>> = { 0: "UNKNOWN", 2: "NOT_SERVING", 3: "SERVICE_UNKNOWN" };
/** Before a message: whether it is compressed, and its length. */
const HEADER = 5;
/** Field 1 of a message, as text and as number. */
const [TEXT_FIELD, NUMBER_FIELD] = [0x0a, 0x08];

/** Asks the health service of gRPC over a connection, which it then owns: undefined when it serves, otherwise what it says. */
export async function grpcProblem(
  connection: Duplex,
  service: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const session = connect("http://pod", { createConnection: () => connection });
  session.on("error", () => {});
  const leave = () => session.destroy();
  signal.addEventListener("abort", leave, { once: true });
  try {
    const stream = session.request({
      ":method": "POST",
      ":path": "/grpc.health.v1.Health/Check",
      "content-type": "application/grpc",
      "user-agent": "kube-probe/1.36",
      te: "trailers",
    });
    stream.on("error", () => {});
    const ended = once(stream, "end");
    const chunks: Buffer[] = [];
    let trailers: IncomingHttpHeaders = {};
    stream.on("trailers", (found: IncomingHttpHeaders) => {
      trailers = found;
    });
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.end(framed(service));
    await ended;
    const code = trailers["grpc-status"];
    if (code !== undefined && code !== "0") return `rpc error: code = ${code} desc = ${trailers["grpc-message"] ?? ""}`;
    const status = statusOf(Buffer.concat(chunks));
    return status === SERVING ? undefined : `service unhealthy (responded with "${STATES[status] ?? status}")`;
  } finally {
    signal.removeEventListener("abort", leave);
    session.destroy();
    connection.destroy();
  }
}

function framed(service: string): Buffer {
  const name = Buffer.from(service);
  const message = name.length === 0 ? name : Buffer.concat([Buffer.from([TEXT_FIELD, name.length]), name]);
  const head = Buffer.alloc(HEADER);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

function statusOf(answer: Buffer): number {
  const message = answer.subarray(HEADER);
  return message[0] === NUMBER_FIELD ? (message[1] ?? 0) : 0;
}
