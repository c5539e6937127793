import { constants, createDeflate } from "node:zlib";
import { SPDY_DICTIONARY } from "../../src/streams/spdy-dictionary.ts";

/** Opens streams as Go's client does: header blocks are compressed, one after the other, by one compressor. */
export class GoClient {
  readonly #deflate = createDeflate({ dictionary: SPDY_DICTIONARY, level: 9, flush: constants.Z_SYNC_FLUSH });

  async open(stream: number, headers: Record<string, string>): Promise<Buffer> {
    const words = Object.entries(headers).flat();
    const block = Buffer.concat([
      word(words.length / 2),
      ...words.flatMap((text) => [word(text.length), Buffer.from(text)]),
    ]);
    await new Promise<void>((resolve) => this.#deflate.write(block, () => resolve()));
    const payload = Buffer.concat([word(stream), word(0), Buffer.alloc(2), this.#deflate.read() as Buffer]);
    return Buffer.concat([word(0x80030001), word(payload.length), payload]);
  }
}

export function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}
