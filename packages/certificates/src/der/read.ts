import { CertificateError } from "../certificate-error.ts";

/** One value: its tag, the whole of it, and its content. */
export interface Element {
  readonly tag: number;
  readonly raw: Buffer;
  readonly content: Buffer;
}

export const TAGS = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  identifier: 0x06,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** The tag of a field by its number: `[0]`. */
export const field = (number: number) => 0x80 | number;
/** The tag of a field that holds other values. */
export const fieldOf = (number: number) => 0xa0 | number;

/**
 * Reads DER value by value, as strictly as Go does: lengths and numbers in their shortest form, tags below 31. Whatever is
 * read names the problem that its absence is.
 */
export class DerReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isEmpty(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** Whether the next value has this tag. */
  isNext(tag: number): boolean {
    return this.#bytes[this.#at] === tag;
  }

  /** The next value, whatever it is. */
  next(problem: string): Element {
    const tag = this.#bytes[this.#at];
    const length = this.#length();
    if (tag === undefined || (tag & 0x1f) === 0x1f || length === undefined) throw new CertificateError(problem);
    const start = this.#at + length.header;
    const end = start + length.content;
    if (end > this.#bytes.length) throw new CertificateError(problem);
    const element = {
      tag,
      raw: this.#bytes.subarray(this.#at, end),
      content: this.#bytes.subarray(start, end),
    };
    this.#at = end;
    return element;
  }

  element(tag: number, problem: string): Element {
    const element = this.next(problem);
    if (element.tag !== tag) throw new CertificateError(problem);
    return element;
  }

  content(tag: number, problem: string): Buffer {
    return this.element(tag, problem).content;
  }

  /** Reads inside the next value. */
  inside(tag: number, problem: string): DerReader {
    return new DerReader(this.content(tag, problem));
  }

  sequence(problem: string): DerReader {
    return this.inside(TAGS.sequence, problem);
  }

  /** Reads inside the next value if it has this tag. */
  optional(tag: number, problem: string): DerReader | undefined {
    return this.isNext(tag) ? this.inside(tag, problem) : undefined;
  }

  boolean(problem: string): boolean {
    const content = this.content(TAGS.boolean, problem);
    if (content.length !== 1 || (content[0] !== 0 && content[0] !== 0xff)) throw new CertificateError(problem);
    return content[0] === 0xff;
  }

  integer(problem: string, tag: number = TAGS.integer): bigint {
    const content = this.content(tag, problem);
    const [first, second] = content;
    if (first === undefined) throw new CertificateError(problem);
    if (second !== undefined && ((first === 0 && second < 0x80) || (first === 0xff && second >= 0x80))) {
      throw new CertificateError(problem);
    }
    return BigInt.asIntN(content.length * 8, BigInt(`0x${content.toString("hex")}`));
  }

  /** A number of at most 64 bits, as Go's `int` is one. */
  int(problem: string, tag?: number): bigint {
    const value = this.integer(problem, tag);
    if (BigInt.asIntN(64, value) !== value) throw new CertificateError(problem);
    return value;
  }

  /** An object identifier: `2.5.4.3`. */
  identifier(problem: string): string {
    const parts: number[] = [];
    const bytes = this.content(TAGS.identifier, problem);
    let [value, isInside] = [0, false];
    for (const byte of bytes) {
      // Neither a needless first byte nor a part of more than 31 bits.
      if ((!isInside && byte === 0x80) || value >= 2 ** 24) throw new CertificateError(problem);
      value = value * 128 + (byte & 0x7f);
      isInside = byte >= 0x80;
      if (isInside) continue;
      parts.push(value);
      value = 0;
    }
    if (isInside || parts.length === 0) throw new CertificateError(problem);
    const first = parts[0]!;
    const top = Math.min(2, Math.floor(first / 40));
    return [top, first - top * 40, ...parts.slice(1)].join(".");
  }

  /** A bit string from the left: bits of the last byte that are unused are zero. */
  bitString(problem: string): Buffer {
    return this.#bits(problem).bytes;
  }

  /** The same as a number: unused bits are in front. */
  bitNumber(problem: string): Buffer {
    const { bytes, unused } = this.#bits(problem);
    if (unused === 0) return bytes;
    return Buffer.from(bytes.map((byte, i) => (byte >> unused) | ((bytes[i - 1] ?? 0) << (8 - unused))));
  }

  #bits(problem: string): { readonly bytes: Buffer; readonly unused: number } {
    const content = this.content(TAGS.bitString, problem);
    const [unused] = content;
    const bytes = content.subarray(1);
    if (unused === undefined || unused > 7) throw new CertificateError(problem);
    if (bytes.length === 0 ? unused !== 0 : (bytes.at(-1)! & ((1 << unused) - 1)) !== 0) {
      throw new CertificateError(problem);
    }
    return { bytes, unused };
  }

  #length(): { header: number; content: number } | undefined {
    const first = this.#bytes[this.#at + 1];
    if (first === undefined) return undefined;
    if (first < 0x80) return { header: 2, content: first };
    const size = first & 0x7f;
    if (size === 0 || size > 4 || this.#at + 2 + size > this.#bytes.length) return undefined;
    const content = this.#bytes.readUIntBE(this.#at + 2, size);
    const isShortest = content >= 0x80 && content >= 2 ** (8 * (size - 1));
    return isShortest ? { header: 2 + size, content } : undefined;
  }
}
