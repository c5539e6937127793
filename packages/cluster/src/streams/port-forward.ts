import type { Duplex } from "node:stream";
import { type ApiResponse, badRequest, drained, SpdyWriter } from "@konverge/core";
import type { Pod } from "@konverge/kinds";
import { CHANNEL_PROTOCOL, forwardByChannels, forwardedPorts } from "./channel-port-forward.ts";
import type { PodNetwork } from "./pod-network.ts";
import { relayed } from "./relayed.ts";
import { type PairedSocket, socketPair } from "./socket-pair.ts";
import { framesOf, type OpenedStream, type StreamFrame } from "./spdy-headers.ts";

/** SPDY's frames, tunnelled through a WebSocket: how kubectl forwards ports since 1.31. */
const PROTOCOL = "SPDY/3.1+portforward.k8s.io";

/**
 * Answers a request to forward ports of a pod: one message stream, through which go any number of connections, or one for
 * each port that the request names, as the client's protocol has it.
 */
export function portForwardResponse(
  network: PodNetwork,
  pod: Pod,
  upgrade: readonly string[] | undefined,
  query: URLSearchParams,
): ApiResponse {
  const protocol = [PROTOCOL, CHANNEL_PROTOCOL].find((one) => upgrade?.includes(one));
  if (!protocol) {
    throw badRequest(`unable to upgrade: this server forwards ports by ${PROTOCOL} and ${CHANNEL_PROTOCOL}`);
  }
  const ports = protocol === CHANNEL_PROTOCOL ? forwardedPorts(query) : [];
  const [near, far] = socketPair(protocol);
  const served =
    protocol === PROTOCOL ? new Forwarding(network, pod, far).serve() : forwardByChannels(network, pod, ports, far);
  served.then(
    () => far.close(1000),
    () => far.close(1011),
  );
  return { status: 101, headers: {}, body: "", socket: near };
}

/** Connections at a time through one request. */
const MOST_CONNECTIONS = 1000;

/** A connection in the making: the client opens a stream for errors, and one for the bytes. */
interface Wanted {
  readonly port: number;
  error?: number;
  data?: number;
}

class Forwarding {
  readonly #network: PodNetwork;
  readonly #pod: Pod;
  readonly #socket: PairedSocket;
  readonly #frames = new SpdyWriter();
  readonly #wanted = new Map<string, Wanted>();
  /** By data stream. Data that arrive before the connection is established are buffered in it. */
  readonly #connections = new Map<number, Promise<Duplex | undefined>>();

  constructor(network: PodNetwork, pod: Pod, socket: PairedSocket) {
    this.#network = network;
    this.#pod = pod;
    this.#socket = socket;
  }

  async serve(): Promise<void> {
    try {
      for await (const frame of framesOf(this.#socket.messages)) await this.#take(frame);
    } finally {
      for (const connection of this.#connections.values()) void connection.then((one) => one?.destroy());
    }
  }

  async #take(frame: StreamFrame): Promise<void> {
    if (frame.type === "ping") this.#socket.send(this.#frames.ping(frame.id));
    else if (frame.type === "open") this.#open(frame);
    else if (frame.type === "reset") (await this.#connections.get(frame.stream))?.destroy();
    else {
      const connection = await this.#connections.get(frame.stream);
      if (!connection || connection.destroyed) return;
      if (frame.data.length > 0 && !connection.write(frame.data)) {
        await drained(connection);
      }
      if (frame.fin) connection.end();
    }
  }

  #open({ stream, headers }: OpenedStream): void {
    if (this.#wanted.size + this.#connections.size >= MOST_CONNECTIONS) {
      this.#socket.send(this.#frames.reset(stream));
      return;
    }
    this.#socket.send(this.#frames.reply(stream));
    const id = headers.get("requestid") ?? "";
    const wanted: Wanted = this.#wanted.get(id) ?? { port: Number(headers.get("port")) };
    this.#wanted.set(id, wanted);
    if (headers.get("streamtype") === "error") wanted.error = stream;
    else wanted.data = stream;
    const { error, data } = wanted;
    if (error === undefined || data === undefined) return;
    this.#wanted.delete(id);
    this.#connections.set(data, this.#connect(wanted.port, error, data));
  }

  async #connect(port: number, error: number, data: number): Promise<Duplex | undefined> {
    const send = (bytes: Uint8Array) => this.#socket.send(bytes);
    const nothing = Buffer.alloc(0);
    try {
      const connection = await this.#network.dial(this.#pod, port);
      connection.once("close", () => {
        send(this.#frames.data(error, nothing, true));
        this.#connections.delete(data);
      });
      void relayed(connection, (chunk) => send(this.#frames.data(data, chunk))).then(
        () => (connection.readableEnded ? send(this.#frames.data(data, nothing, true)) : undefined),
        () => send(this.#frames.reset(data)),
      );
      return connection;
    } catch (failure) {
      const { name, uid } = this.#pod.metadata;
      const why = failure instanceof Error ? failure.message : String(failure);
      const text = `error forwarding port ${port} to pod ${name}, uid ${uid}: failed to connect to localhost:${port} inside the pod: ${why}`;
      send(this.#frames.data(error, Buffer.from(text), true));
      send(this.#frames.data(data, nothing, true));
      this.#connections.delete(data);
      return undefined;
    }
  }
}
