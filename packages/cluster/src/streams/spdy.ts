import { constants, createInflate } from "node:zlib";
import { SPDY_DICTIONARY } from "./spdy-dictionary.ts";

/** A frame that a client sent. */
export type ClientFrame =
  | { type: "open"; stream: number; fin: boolean; headers: ReadonlyMap<string, string> }
  | { type: "data"; stream: number; fin: boolean; data: Buffer }
  | { type: "reset"; stream: number }
  | { type: "ping"; id: number }
  | { type: "goaway" };

/** Bytes before the content of a frame. */
const HEAD = 8;
const SYN_STREAM = 1;
const SYN_REPLY = 2;
const RST_STREAM = 3;
const PING = 6;
const GOAWAY = 7;
const FIN = 0x01;
const CANCEL = 5;
/** zlib's header with a preset dictionary, an empty list of headers in a stored block, and an empty block to flush it. */
const NO_HEADERS_FIRST = Buffer.from([0x78, 0xbb, 0xe3, 0xc6, 0xa7, 0xc2]);
const NO_HEADERS = Buffer.from([0, 4, 0, 0xfb, 0xff, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]);

/** Reads SPDY/3.1 as a server: cuts bytes, however they are chopped, into frames. Frames of no interest are dropped. */
export class ClientFrames {
  readonly #inflate = createInflate({ dictionary: SPDY_DICTIONARY, flush: constants.Z_SYNC_FLUSH });
  /** What has come of a frame that is not complete, and how much of it there must be before it is looked at again. */
  #rest: Uint8Array[] = [];
  #length = 0;
  #needed = HEAD;

  constructor() {
    // An error that nothing listens for would end the process.
    this.#inflate.on("error", () => {});
  }

  async push(bytes: Uint8Array): Promise<ClientFrame[]> {
    this.#rest.push(bytes);
    this.#length += bytes.length;
    const frames: ClientFrame[] = [];
    if (this.#length < this.#needed) return frames;
    let all = Buffer.concat(this.#rest);
    this.#needed = HEAD;
    while (all.length >= HEAD) {
      const length = HEAD + all.readUIntBE(5, 3);
      if (all.length < length) {
        this.#needed = length;
        break;
      }
      const frame = await this.#decode(all.subarray(0, length));
      if (frame) frames.push(frame);
      all = all.subarray(length);
    }
    this.#rest = [all];
    this.#length = all.length;
    return frames;
  }

  async #decode(frame: Buffer): Promise<ClientFrame | undefined> {
    const head = frame.readUInt32BE(0);
    const fin = (frame[4]! & FIN) !== 0;
    const payload = frame.subarray(8);
    if (head >>> 31 === 0) return { type: "data", stream: head, fin, data: Buffer.from(payload) };
    const type = head & 0xffff;
    if (type === GOAWAY) return { type: "goaway" };
    if (payload.length < 4) return undefined;
    const stream = payload.readUInt32BE(0) & 0x7fffffff;
    if (type === PING) return { type: "ping", id: payload.readUInt32BE(0) };
    if (type === RST_STREAM) return { type: "reset", stream };
    // Every header block must be read, wanted or not: they share one compression.
    if (type === SYN_STREAM) return { type: "open", stream, fin, headers: await this.#headers(payload.subarray(10)) };
    return undefined;
  }

  async #headers(block: Buffer): Promise<ReadonlyMap<string, string>> {
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

/** Writes SPDY/3.1 as a server. */
export class ServerFrames {
  #first = true;

  /** Accepts a stream. */
  reply(stream: number): Buffer {
    const block = this.#first ? Buffer.concat([NO_HEADERS_FIRST, NO_HEADERS]) : NO_HEADERS;
    this.#first = false;
    return control(SYN_REPLY, Buffer.concat([word(stream), block]));
  }

  data(stream: number, data: Uint8Array, fin = false): Buffer {
    return Buffer.concat([word(stream), word(((fin ? FIN : 0) << 24) | data.length), data]);
  }

  reset(stream: number): Buffer {
    return control(RST_STREAM, Buffer.concat([word(stream), word(CANCEL)]));
  }

  ping(id: number): Buffer {
    return control(PING, word(id));
  }
}

function control(type: number, payload: Buffer): Buffer {
  return Buffer.concat([word((0x8003 << 16) | type), word(payload.length), payload]);
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}

/** A frame about a stream, or a ping. */
export type StreamFrame = Exclude<ClientFrame, { type: "goaway" }>;

/** The frames that a client sends, until it goes away. */
export async function* framesOf(messages: AsyncIterable<string | Uint8Array>): AsyncGenerator<StreamFrame, void, void> {
  const reader = new ClientFrames();
  try {
    for await (const message of messages) {
      for (const frame of await reader.push(typeof message === "string" ? Buffer.from(message) : message)) {
        if (frame.type === "goaway") return;
        yield frame;
      }
    }
  } finally {
    reader.close();
  }
}
