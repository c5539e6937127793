/** A frame of SPDY/3.1 that arrived. */
export type SpdyFrame =
  /** `block`: the headers, compressed together with those of the frames before. */
  | { type: "open"; stream: number; fin: boolean; block: Uint8Array }
  | { type: "reply"; stream: number; fin: boolean }
  | { type: "data"; stream: number; fin: boolean; data: Uint8Array }
  | { type: "reset"; stream: number; status: number }
  | { type: "ping"; id: number }
  | { type: "goaway"; status: number };

/** Bytes before the content of a frame. */
const HEAD = 8;
const SYN_STREAM = 1;
const SYN_REPLY = 2;
const RST_STREAM = 3;
const PING = 6;
const GOAWAY = 7;
const FIN = 0x01;
const CANCEL = 5;
const EMPTY = new Uint8Array(0);
/** zlib's header with a preset dictionary, and the checksum of SPDY/3's dictionary. */
const ZLIB_HEADER = Uint8Array.of(0x78, 0xbb, 0xe3, 0xc6, 0xa7, 0xc2);
/** An empty stored block, at which an inflater hands out all it has. */
const FLUSH = Uint8Array.of(0, 0, 0, 0xff, 0xff);

/**
 * Writes SPDY/3.1, for one end of a connection.
 *
 * Header blocks share one zlib stream, of which the first carries the header. They are written in zlib's stored form, which any
 * inflater reads and which needs neither a compressor nor its state.
 */
export class SpdyWriter {
  #isFirst = true;

  open(stream: number, headers: Readonly<Record<string, string>>, fin = false): Uint8Array {
    const priorityAndSlot = new Uint8Array(2);
    const payload = concat([word(stream), word(0), priorityAndSlot, this.#block(headers)]);
    return controlFrame(SYN_STREAM, fin ? FIN : 0, payload);
  }

  /** Accepts a stream. */
  reply(stream: number): Uint8Array {
    return controlFrame(SYN_REPLY, 0, concat([word(stream), this.#block({})]));
  }

  data(stream: number, data: Uint8Array, fin = false): Uint8Array {
    return concat([word(stream), word(((fin ? FIN : 0) << 24) | data.length), data]);
  }

  reset(stream: number): Uint8Array {
    return controlFrame(RST_STREAM, 0, concat([word(stream), word(CANCEL)]));
  }

  ping(id: number): Uint8Array {
    return controlFrame(PING, 0, word(id));
  }

  #block(headers: Readonly<Record<string, string>>): Uint8Array {
    const block = concat([this.#isFirst ? ZLIB_HEADER : EMPTY, stored(nameValueBlock(headers)), FLUSH]);
    this.#isFirst = false;
    return block;
  }
}

/** Cuts a byte stream, however it is chopped, into frames of SPDY/3.1. Frames of no interest are dropped. */
export class SpdyReader {
  /** What has come of a frame that is not complete, and how much of it there must be before it is looked at again. */
  #rest: Uint8Array[] = [];
  #length = 0;
  #needed = HEAD;

  push(bytes: Uint8Array): SpdyFrame[] {
    this.#rest.push(bytes);
    this.#length += bytes.length;
    const frames: SpdyFrame[] = [];
    if (this.#length < this.#needed) return frames;
    let all = this.#rest.length === 1 ? bytes : concat(this.#rest);
    this.#needed = HEAD;
    while (all.length >= HEAD) {
      const length = HEAD + (viewOf(all).getUint32(4) & 0xffffff);
      if (all.length < length) {
        this.#needed = length;
        break;
      }
      const frame = decode(all.subarray(0, length));
      if (frame) frames.push(frame);
      all = all.subarray(length);
    }
    this.#rest = [all];
    this.#length = all.length;
    return frames;
  }
}

function decode(frame: Uint8Array): SpdyFrame | undefined {
  const view = viewOf(frame);
  const head = view.getUint32(0);
  const fin = (frame[4]! & FIN) !== 0;
  const payload = frame.subarray(HEAD);
  if (head >>> 31 === 0) return { type: "data", stream: head, fin, data: payload };
  const first = payload.length >= 4 ? view.getUint32(8) : 0;
  const stream = first & 0x7fffffff;
  const status = payload.length >= 8 ? view.getUint32(12) : 0;
  switch (head & 0xffff) {
    case SYN_STREAM:
      return { type: "open", stream, fin, block: payload.subarray(10) };
    case SYN_REPLY:
      return { type: "reply", stream, fin };
    case RST_STREAM:
      return { type: "reset", stream, status };
    case PING:
      return { type: "ping", id: first };
    case GOAWAY:
      return { type: "goaway", status };
    default:
      return undefined;
  }
}

function controlFrame(type: number, flags: number, payload: Uint8Array): Uint8Array {
  return concat([word((0x8003 << 16) | type), word((flags << 24) | payload.length), payload]);
}

function nameValueBlock(headers: Readonly<Record<string, string>>): Uint8Array {
  const texts = Object.entries(headers).flat();
  const encoder = new TextEncoder();
  const words = texts.map((text) => encoder.encode(text)).flatMap((bytes) => [word(bytes.length), bytes]);
  return concat([word(texts.length / 2), ...words]);
}

function stored(data: Uint8Array): Uint8Array {
  const { length } = data;
  const head = Uint8Array.of(0, length & 0xff, length >>> 8, ~length & 0xff, (~length >>> 8) & 0xff);
  return concat([head, data]);
}

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function word(value: number): Uint8Array {
  return Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value);
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}
