/**
 * The part of SPDY/3.1 that port forwarding needs, as frames in and out of a byte stream.
 *
 * Header blocks go out in zlib's stored form, which any inflater reads and which needs neither a compressor nor its state.
 * Header blocks that come in are not read: their stream says all that matters.
 */

/** A frame that arrived. */
export type Frame =
  | { type: "data"; stream: number; fin: boolean; data: Uint8Array }
  | { type: "reply"; stream: number; fin: boolean }
  | { type: "reset"; stream: number; status: number }
  | { type: "ping"; id: number }
  | { type: "goaway"; status: number };

const SYN_STREAM = 1;
const SYN_REPLY = 2;
const RST_STREAM = 3;
const PING = 6;
const GOAWAY = 7;
const FIN = 0x01;
const CANCEL = 5;

export function dataFrame(stream: number, data: Uint8Array, fin = false): Uint8Array {
  const frame = new Uint8Array(8 + data.length);
  const view = new DataView(frame.buffer);
  view.setUint32(0, stream);
  view.setUint32(4, ((fin ? FIN : 0) << 24) | data.length);
  frame.set(data, 8);
  return frame;
}

export function pingFrame(id: number): Uint8Array {
  return controlFrame(PING, 0, word(id));
}

export function resetFrame(stream: number): Uint8Array {
  return controlFrame(RST_STREAM, 0, concat(word(stream), word(CANCEL)));
}

/** Opens streams: header blocks of one connection share one zlib stream, of which the first carries the header. */
export class StreamOpener {
  #first = true;

  open(stream: number, headers: Record<string, string>, fin = false): Uint8Array {
    const block = concat(this.#first ? ZLIB_HEADER : EMPTY, stored(nameValueBlock(headers)), FLUSH);
    this.#first = false;
    const priorityAndSlot = new Uint8Array(2);
    return controlFrame(SYN_STREAM, fin ? FIN : 0, concat(word(stream), word(0), priorityAndSlot, block));
  }
}

/** Cuts a byte stream, however it is chopped, into frames. Frames of no interest are dropped. */
export class FrameReader {
  #rest: Uint8Array = EMPTY;

  push(bytes: Uint8Array): Frame[] {
    this.#rest = this.#rest.length === 0 ? bytes : concat(this.#rest, bytes);
    const frames: Frame[] = [];
    for (;;) {
      if (this.#rest.length < 8) return frames;
      const view = new DataView(this.#rest.buffer, this.#rest.byteOffset, this.#rest.byteLength);
      const length = view.getUint32(4) & 0xffffff;
      if (this.#rest.length < 8 + length) return frames;
      const frame = decode(view, length);
      if (frame) frames.push(frame);
      this.#rest = this.#rest.subarray(8 + length);
    }
  }
}

function decode(view: DataView, length: number): Frame | undefined {
  const head = view.getUint32(0);
  const fin = (view.getUint8(4) & FIN) !== 0;
  if (head >>> 31 === 0) {
    const data = new Uint8Array(view.buffer, view.byteOffset + 8, length);
    return { type: "data", stream: head, fin, data };
  }
  const first = length >= 4 ? view.getUint32(8) : 0;
  const stream = first & 0x7fffffff;
  const second = length >= 8 ? view.getUint32(12) : 0;
  switch (head & 0xffff) {
    case SYN_REPLY:
      return { type: "reply", stream, fin };
    case RST_STREAM:
      return { type: "reset", stream, status: second };
    case PING:
      return { type: "ping", id: first };
    case GOAWAY:
      return { type: "goaway", status: second };
    default:
      return undefined;
  }
}

function controlFrame(type: number, flags: number, payload: Uint8Array): Uint8Array {
  return concat(word((0x8003 << 16) | type), word((flags << 24) | payload.length), payload);
}

function nameValueBlock(headers: Record<string, string>): Uint8Array {
  const entries = Object.entries(headers);
  const encoder = new TextEncoder();
  const parts = [word(entries.length)];
  for (const text of entries.flat()) {
    const bytes = encoder.encode(text);
    parts.push(word(bytes.length), bytes);
  }
  return concat(...parts);
}

const EMPTY = new Uint8Array(0);
/** zlib's header with a preset dictionary, and the checksum of SPDY/3's dictionary. */
const ZLIB_HEADER = Uint8Array.of(0x78, 0xbb, 0xe3, 0xc6, 0xa7, 0xc2);
/** An empty stored block, at which an inflater hands out all it has. */
const FLUSH = Uint8Array.of(0, 0, 0, 0xff, 0xff);

function stored(data: Uint8Array): Uint8Array {
  const { length } = data;
  const head = Uint8Array.of(0, length & 0xff, length >>> 8, ~length & 0xff, (~length >>> 8) & 0xff);
  return concat(head, data);
}

function word(value: number): Uint8Array {
  return Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value);
}

function concat(...parts: Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}
