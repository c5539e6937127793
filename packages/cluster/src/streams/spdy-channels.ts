import { own, SpdyWriter } from "@konverge/core";
import { type PairedSocket, socketPair } from "./socket-pair.ts";
import { framesOf, type StreamFrame } from "./spdy-headers.ts";

/** What precedes a protocol's name where its streams are SPDY's own, not channels of a WebSocket. */
export const SPDY = "SPDY/3.1+";

/** The channel for each stream that a client opens, by the name in its headers. */
const CHANNELS: Readonly<Record<string, number>> = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 };
const [STDIN, ERROR, CLOSE] = [0, 3, 255];
const NOTHING = Buffer.alloc(0);

/**
 * Makes a stream of channel messages of one that carries SPDY's frames: what older kubectl and Go's SPDY executor speak for
 * exec and attach. Flow: the client opens a stream for each of the process's own; what is written waits until all are there;
 * output that was not requested is dropped. At the end all streams are finished, then the connection.
 */
export function channelsOverSpdy(outer: PairedSocket, query: URLSearchParams): PairedSocket {
  const [near, far] = socketPair(outer.protocol.slice(SPDY.length));
  const streams = new SpdyChannels(outer, near, query);
  streams.receive().then(
    () => near.close(),
    () => near.close(),
  );
  void streams.send().finally(() => outer.close());
  return far;
}

class SpdyChannels {
  readonly #outer: PairedSocket;
  readonly #near: PairedSocket;
  readonly #frames = new SpdyWriter();
  /** By channel: the stream, once it is there. */
  readonly #streams = new Map<number, PromiseWithResolvers<number>>();
  readonly #channels = new Map<number, number>();
  readonly #finished = new Set<number>();

  constructor(outer: PairedSocket, near: PairedSocket, query: URLSearchParams) {
    this.#outer = outer;
    this.#near = near;
    const isSet = (name: string) => ["true", "1", ""].includes(query.get(name) ?? "false");
    // A terminal has one stream for both.
    const wanted = ["error", ...["stdin", "stdout", "stderr"].filter(isSet)];
    for (const name of isSet("tty") ? wanted.filter((one) => one !== "stderr") : wanted) {
      this.#streams.set(CHANNELS[name]!, Promise.withResolvers());
    }
  }

  /** From the client to the process. */
  async receive(): Promise<void> {
    for await (const frame of framesOf(this.#outer.messages)) await this.#take(frame);
  }

  async #take(frame: StreamFrame): Promise<void> {
    if (frame.type === "ping") this.#outer.send(this.#frames.ping(frame.id));
    else if (frame.type === "open") this.#open(frame.stream, frame.headers.get("streamtype") ?? "");
    else if (frame.type === "data") {
      const channel = this.#channels.get(frame.stream);
      if (channel === undefined) return;
      if (frame.data.length > 0) await this.#near.send(Buffer.concat([Buffer.from([channel]), frame.data]));
      if (frame.fin && channel === STDIN) this.#near.send(Buffer.from([CLOSE, STDIN]));
    }
  }

  #open(stream: number, name: string): void {
    const channel = own(CHANNELS, name);
    if (channel === undefined) {
      this.#outer.send(this.#frames.reset(stream));
      return;
    }
    this.#outer.send(this.#frames.reply(stream));
    this.#channels.set(stream, channel);
    this.#streams.get(channel)?.resolve(stream);
  }

  /** From the process to the client. */
  async send(): Promise<void> {
    // A client waits for the answer to each stream that it opens: the connection must not end before the last of them.
    for (const channel of this.#streams.keys()) await this.#streamOf(channel);
    for await (const message of this.#near.messages) {
      const bytes = typeof message === "string" ? Buffer.from(message) : message;
      const stream = await this.#streamOf(bytes[0]!);
      if (stream === undefined) continue;
      // How it ended is one message.
      if (bytes[0] === ERROR) this.#finished.add(stream);
      await this.#outer.send(this.#frames.data(stream, bytes.subarray(1), bytes[0] === ERROR));
    }
    for (const stream of this.#channels.keys()) {
      if (!this.#finished.has(stream)) this.#outer.send(this.#frames.data(stream, NOTHING, true));
    }
  }

  /** The stream of a channel, once it is open; undefined when it never will be. */
  #streamOf(channel: number): Promise<number | undefined> {
    const closed = new Promise<undefined>((resolve) => {
      if (this.#outer.closed.aborted) resolve(undefined);
      this.#outer.closed.addEventListener("abort", () => resolve(undefined), { once: true });
    });
    return Promise.race([this.#streams.get(channel)?.promise ?? Promise.resolve(undefined), closed]);
  }
}
