import { constants, createInflate } from "node:zlib";
import { type SpdyFrame, SpdyReader } from "@konverge/core";
import { SPDY_DICTIONARY } from "./spdy-dictionary.ts";

/** A stream that a client opens. */
export interface OpenedStream {
  readonly type: "open";
  readonly stream: number;
  readonly headers: ReadonlyMap<string, string>;
}

/** A frame of a client about a stream, or a ping. */
export type StreamFrame = OpenedStream | Extract<SpdyFrame, { type: "data" | "reset" | "ping" }>;

/** Reads the header blocks of one connection: every one of them must be read, wanted or not, since they share one compression. */
export class SpdyHeaders {
  readonly #inflate = createInflate({ dictionary: SPDY_DICTIONARY, flush: constants.Z_SYNC_FLUSH });

  constructor() {
    // An error that nothing listens for would end the process.
    this.#inflate.on("error", () => {});
  }

  async read(block: Uint8Array): Promise<ReadonlyMap<string, string>> {
    await new Promise<void>((resolve, reject) => {
      const settle = (error: Error | null | undefined) => {
        this.#inflate.off("error", settle);
        if (error) reject(error);
        else resolve();
      };
      this.#inflate.once("error", settle);
      this.#inflate.write(block, settle);
    });
    const text = (this.#inflate.read() as Buffer | null) ?? Buffer.alloc(4);
    const headers = new Map<string, string>();
    let at = 4;
    const next = () => {
      const length = text.readUInt32BE(at);
      const word = text.toString("utf8", at + 4, at + 4 + length);
      at += 4 + length;
      return word;
    };
    for (let count = text.readUInt32BE(0); count > 0; count--) headers.set(next().toLowerCase(), next());
    return headers;
  }

  close(): void {
    this.#inflate.close();
  }
}

/** The frames that a client sends, until it disconnects. */
export async function* framesOf(messages: AsyncIterable<string | Uint8Array>): AsyncGenerator<StreamFrame, void, void> {
  const reader = new SpdyReader();
  const headers = new SpdyHeaders();
  try {
    for await (const message of messages) {
      for (const frame of reader.push(typeof message === "string" ? Buffer.from(message) : message)) {
        if (frame.type === "goaway") return;
        const { type } = frame;
        if (type === "open") yield { type, stream: frame.stream, headers: await headers.read(frame.block) };
        else if (type !== "reply") yield frame;
      }
    }
  } finally {
    headers.close();
  }
}
