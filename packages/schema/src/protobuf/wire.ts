import { type ApiError, badRequest } from "@konverge/core";

/** How the value after a tag is laid out. */
export const VARINT = 0;
export const FIXED64 = 1;
export const BYTES = 2;
export const FIXED32 = 5;

/** A body that is not the protobuf message it should be. */
export function malformed(why: string): ApiError {
  return badRequest(why);
}

/** Reads the wire format from a part of a buffer. */
export class WireReader {
  readonly #bytes: Buffer;
  readonly end: number;
  #at: number;

  constructor(bytes: Buffer, start = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.#at = start;
    this.end = end;
  }

  get done(): boolean {
    return this.#at >= this.end;
  }

  /** The next field number and how its value is laid out. */
  tag(): { field: number; wire: number } {
    const tag = this.uint();
    const field = Math.floor(tag / 8);
    if (field === 0) throw malformed(`proto: illegal tag 0 (wire type ${tag})`);
    return { field, wire: tag % 8 };
  }

  /** A signed 64-bit integer: a bigint only where a number would lose digits. */
  int(): number | bigint {
    const start = this.#at;
    const value = this.uint();
    if (this.#at - start < 8) return value;
    const exact = BigInt.asIntN(64, this.#bigVarint(start));
    return exact >= Number.MIN_SAFE_INTEGER && exact <= Number.MAX_SAFE_INTEGER ? Number(exact) : exact;
  }

  /** An unsigned integer below 2^53; larger ones lose digits. */
  uint(): number {
    let value = 0;
    let scale = 1;
    for (let i = 0; i < 10; i++) {
      if (this.#at >= this.end) throw malformed("unexpected EOF");
      const byte = this.#bytes[this.#at++]!;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 0x80;
    }
    throw malformed("proto: integer overflow");
  }

  #bigVarint(start: number): bigint {
    let value = 0n;
    for (let at = start, shift = 0n; at < this.#at; at++, shift += 7n) {
      value |= BigInt(this.#bytes[at]! & 0x7f) << shift;
    }
    return value;
  }

  double(): number {
    return this.#take(8).readDoubleLE();
  }

  float(): number {
    return this.#take(4).readFloatLE();
  }

  /** The bytes of a length-delimited value, not copied. */
  bytes(): Buffer {
    return this.#take(this.uint());
  }

  text(): string {
    return this.bytes().toString("utf8");
  }

  /** A reader of the message that comes next. */
  message(): WireReader {
    const length = this.uint();
    const start = this.#at;
    this.#skipBytes(length);
    return new WireReader(this.#bytes, start, this.#at);
  }

  skip(wire: number): void {
    if (wire === VARINT) this.uint();
    else if (wire === FIXED64) this.#skipBytes(8);
    else if (wire === BYTES) this.#skipBytes(this.uint());
    else if (wire === FIXED32) this.#skipBytes(4);
    else throw malformed(`proto: illegal wireType ${wire}`);
  }

  #take(length: number): Buffer {
    const start = this.#at;
    this.#skipBytes(length);
    return this.#bytes.subarray(start, this.#at);
  }

  #skipBytes(length: number): void {
    if (this.#at + length > this.end) throw malformed("unexpected EOF");
    this.#at += length;
  }
}
