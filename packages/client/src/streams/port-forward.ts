import { type MessageSocket, type SpdyFrame, SpdyReader, SpdyWriter } from "@konverge/core";
import { TransportError } from "../errors.ts";
import { ByteQueue, collectText } from "./byte-queue.ts";
import type { PodConnection, PortListener } from "./port-connection.ts";

/** SPDY's frames, tunnelled through a WebSocket: how servers since Kubernetes 1.31 forward ports without SPDY's own upgrade. */
export const PORT_FORWARD_PROTOCOL = "SPDY/3.1+portforward.k8s.io";

/** One stream of the tunnel, and what came on it. */
interface Stream {
  stream: number;
  queue: ByteQueue;
  onReset?: (status: number) => void;
}

/**
 * Connections to the ports of one pod, all through one message stream.
 *
 * Flow: for each connection two streams are opened: one for errors of the server, one for the bytes.
 *
 * Guarantees: a connection to a port without a listener ends with the server's message; when the message stream breaks,
 * all connections fail with a TransportError.
 */
export class PortForward implements AsyncDisposable {
  readonly #socket: MessageSocket;
  readonly #frames = new SpdyWriter();
  readonly #streams = new Map<number, Stream>();
  readonly #listeners = new Set<PortListener>();
  /** Settles when the message stream has ended. */
  readonly closed: Promise<void>;
  #nextStream = 1;
  #nextRequest = 0;
  #over: TransportError | undefined;

  constructor(socket: MessageSocket) {
    this.#socket = socket;
    this.closed = this.#receive();
  }

  /** Opens a connection to a port of the pod. */
  connect(port: number): PodConnection {
    if (this.#over) throw this.#over;
    const headers = { port: String(port), requestid: String(this.#nextRequest++) };
    const errors = this.#open({ streamtype: "error", ...headers }, true);
    const data = this.#open({ streamtype: "data", ...headers }, false);
    const { stream, queue } = data;
    const complaint = collectText(errors.queue).catch(() => "");
    const fail = (why: string) =>
      queue.end(new TransportError("closed", `port ${port}: ${why}`, { unknownOutcome: true }));
    void complaint.then((message) => message && fail(message));
    // The reason comes on the other stream, perhaps later.
    data.onReset = (status) => void complaint.then((message) => fail(message || `the pod dropped it (${status})`));
    let open = true;
    let dropped = false;
    return {
      readable: queue,
      write: (bytes) => {
        if (open && !this.#over) this.#socket.send(this.#frames.data(stream, bytes));
      },
      end: () => {
        if (open && !this.#over) this.#socket.send(this.#frames.data(stream, new Uint8Array(0), true));
        open = false;
      },
      close: () => {
        open = false;
        if (!dropped) for (const id of [stream, errors.stream]) this.#drop(id);
        dropped = true;
      },
    };
  }

  /** Listens on a local port (0: a free port) and forwards each connection to a port of the pod. */
  async listen(port: number, options: { localPort?: number; host?: string } = {}): Promise<PortListener> {
    const { listenFor } = await import("./port-listener.ts");
    const listener = await listenFor(() => this.connect(port), options);
    this.#listeners.add(listener);
    return listener;
  }

  /** Ends all connections and listeners. */
  async close(): Promise<void> {
    this.#socket.close();
    await Promise.all([...this.#listeners].map((listener) => listener.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #open(headers: Record<string, string>, fin: boolean): Stream {
    const opened: Stream = { stream: this.#nextStream, queue: new ByteQueue() };
    this.#nextStream += 2;
    this.#streams.set(opened.stream, opened);
    this.#socket.send(this.#frames.open(opened.stream, headers, fin));
    return opened;
  }

  #drop(stream: number): void {
    this.#streams.get(stream)?.queue.end();
    this.#streams.delete(stream);
    if (!this.#over) this.#socket.send(this.#frames.reset(stream));
  }

  async #receive(): Promise<void> {
    const reader = new SpdyReader();
    let cause: unknown;
    try {
      for await (const message of this.#socket.messages) {
        const bytes = typeof message === "string" ? new TextEncoder().encode(message) : message;
        for (const frame of reader.push(bytes)) await this.#take(frame);
      }
    } catch (error) {
      cause = error;
    }
    const why = cause === undefined ? "the server closed it" : String(cause);
    this.#over = new TransportError("closed", `the port forwarding has ended: ${why}`, { cause, unknownOutcome: true });
    for (const { queue } of this.#streams.values()) queue.end(this.#over);
    this.#streams.clear();
  }

  async #take(frame: SpdyFrame): Promise<void> {
    if (frame.type === "ping") {
      // Even numbers are the server's questions, odd ones answers to ours.
      if (frame.id % 2 === 0) this.#socket.send(this.#frames.ping(frame.id));
      return;
    }
    if (frame.type === "goaway") return this.#socket.close();
    const found = this.#streams.get(frame.stream);
    if (!found) return;
    const { queue, onReset } = found;
    if (frame.type === "reset") {
      this.#streams.delete(frame.stream);
      if (onReset) onReset(frame.status);
      else queue.end();
      return;
    }
    if (frame.type === "data") {
      queue.push(frame.data);
      await queue.room();
    }
    if (!frame.fin) return;
    this.#streams.delete(frame.stream);
    queue.end();
  }
}
