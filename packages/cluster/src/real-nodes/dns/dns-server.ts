import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { type Socket as Connection, createServer, type Server } from "node:net";
import { type Answer, decode, encode, type Packet, type Question, RECURSION_DESIRED } from "dns-packet";
import type { ClusterNames } from "../../streams/cluster-names.ts";
import { answerFromCluster, openAlias, type ZoneAnswer } from "./cluster-zone.ts";
import { forward, framed } from "./forward.ts";

type Protocol = "udp" | "tcp";

/** Answers messages that are not of the cluster; undefined when nothing does. */
export type Forward = (message: Buffer, protocol: Protocol) => Promise<Buffer | undefined>;

const RECURSION_AVAILABLE = 1 << 7;
const TRUNCATED = 1 << 9;
const FORMAT_ERROR = 1;
const SERVER_FAILURE = 2;
/** Bytes of a response over UDP that every client accepts. */
const PLAIN_SIZE = 512;
/** The same as before a restart, so that nodes need no other; a free port if it is taken. */
const PREFERRED_PORT = 10_053;
/** How many free UDP ports are tried until one is free for TCP as well. */
const ATTEMPTS = 20;
/** An idle connection is closed after this many milliseconds. */
const IDLE = 10_000;

/** A name server for real pods: Services and pods by the cluster's own names, everything else by the machine's name servers. */
export class DnsServer implements AsyncDisposable {
  readonly port: number;
  readonly #names: ClusterNames;
  readonly #forward: Forward;
  readonly #udp: Socket;
  readonly #tcp: Server;
  readonly #connections = new Set<Connection>();

  private constructor(names: ClusterNames, forwarding: Forward, udp: Socket, tcp: Server) {
    this.#names = names;
    this.#forward = forwarding;
    this.#udp = udp;
    this.#tcp = tcp;
    this.port = udp.address().port;
    udp.on("message", (message, { address, port }) => {
      void this.#answer(message, "udp").then((answer) => answer && udp.send(answer, port, address, () => {}));
    });
    udp.on("error", () => {});
    tcp.on("connection", (connection) => this.#serve(connection));
  }

  /** Listens at an address, on one port for both protocols. */
  static async listen(host: string, names: ClusterNames, forwarding: Forward = forward): Promise<DnsServer> {
    for (let attempt = 1; ; attempt++) {
      const udp = createSocket(host.includes(":") ? "udp6" : "udp4");
      const tcp = createServer();
      try {
        udp.bind(attempt === 1 ? PREFERRED_PORT : 0, host);
        await once(udp, "listening");
        tcp.listen(udp.address().port, host);
        await once(tcp, "listening");
        return new DnsServer(names, forwarding, udp, tcp);
      } catch (error) {
        udp.close();
        if (attempt === ATTEMPTS) throw error;
      }
    }
  }

  async close(): Promise<void> {
    for (const connection of this.#connections) connection.destroy();
    this.#udp.close();
    this.#tcp.close();
    await once(this.#tcp, "close");
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #serve(connection: Connection): void {
    this.#connections.add(connection);
    connection.on("error", () => {});
    connection.on("close", () => this.#connections.delete(connection));
    connection.setTimeout(IDLE, () => connection.destroy());
    let received = Buffer.alloc(0);
    connection.on("data", (chunk) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE()) {
        const message = received.subarray(2, 2 + received.readUInt16BE());
        received = received.subarray(2 + message.length);
        void this.#answer(Buffer.from(message), "tcp").then((answer) => answer && connection.write(framed(answer)));
      }
    });
  }

  /** Undefined for what is not even a question. */
  async #answer(message: Buffer, protocol: Protocol): Promise<Buffer | undefined> {
    let query: Packet;
    try {
      query = decode(message);
    } catch {
      return message.length < 12 ? undefined : failure({ id: message.readUInt16BE() }, FORMAT_ERROR);
    }
    if (query.type !== "query") return undefined;
    const [question] = query.questions ?? [];
    if (!question || query.questions?.length !== 1) return failure(query, FORMAT_ERROR);
    try {
      const found = answerFromCluster(this.#names, question);
      if (!found) return (await this.#forward(message, protocol)) ?? failure(query, SERVER_FAILURE);
      return this.#encoded(query, await this.#followed(found, question, protocol), protocol);
    } catch {
      return failure(query, SERVER_FAILURE);
    }
  }

  /** An alias comes with the addresses of what it stands for. */
  async #followed(found: ZoneAnswer, question: Question, protocol: Protocol): Promise<ZoneAnswer> {
    const host = openAlias(found, question);
    if (host === undefined) return found;
    const further = { ...question, name: host };
    const own = answerFromCluster(this.#names, further);
    const rest = own ? (own.answers ?? []) : await this.#asked(further, protocol);
    return { ...found, answers: [...(found.answers ?? []), ...rest] };
  }

  async #asked(question: Question, protocol: Protocol): Promise<readonly Answer[]> {
    const query = { type: "query" as const, id: 1, flags: RECURSION_DESIRED, questions: [question] };
    const answer = await this.#forward(Buffer.from(encode(query)), protocol);
    return answer ? (decode(answer).answers ?? []) : [];
  }

  #encoded(query: Packet, answer: ZoneAnswer, protocol: Protocol): Buffer {
    const whole = { ...headOf(query), ...answer, flags: flagsOf(query) | (answer.flags ?? 0) };
    const encoded = Buffer.from(encode(whole));
    const option = query.additionals?.find((one) => one.type === "OPT");
    const room = Math.max(PLAIN_SIZE, option?.type === "OPT" ? option.udpPayloadSize : 0);
    if (protocol === "tcp" || encoded.length <= room) return encoded;
    return Buffer.from(encode({ ...headOf(query), flags: whole.flags | TRUNCATED }));
  }
}

const headOf = ({ id, questions }: Packet): Packet => ({ type: "response", id, questions });
const flagsOf = ({ flags = 0 }: Packet): number => flags & RECURSION_DESIRED;

function failure(query: Packet, code: number): Buffer {
  return Buffer.from(encode({ ...headOf(query), flags: flagsOf(query) | RECURSION_AVAILABLE | code }));
}
