/** Writes the wire format. */
export class WireWriter {
  readonly #parts: Uint8Array[] = [];

  tag(field: number, wire: number): void {
    this.int(field * 8 + wire);
  }

  int(value: number | bigint): void {
    let rest = BigInt.asUintN(64, BigInt(value));
    const bytes: number[] = [];
    while (rest > 0x7fn) {
      bytes.push(Number(rest & 0x7fn) | 0x80);
      rest >>= 7n;
    }
    bytes.push(Number(rest));
    this.#parts.push(Uint8Array.from(bytes));
  }

  double(value: number): void {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(value);
    this.#parts.push(bytes);
  }

  bytes(value: Uint8Array): void {
    this.int(value.length);
    this.#parts.push(value);
  }

  text(value: string): void {
    this.bytes(Buffer.from(value, "utf8"));
  }

  finish(): Buffer {
    return Buffer.concat(this.#parts);
  }
}
