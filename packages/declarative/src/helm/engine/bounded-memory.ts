/** The module of a program, with a maximum for its memory: Go's linker sets none. */

const MEMORY_SECTION = 5;
const HAS_MAXIMUM = 1;

/** The same module, whose memory cannot grow beyond `pages` of 64 KiB. */
export function withMaximumMemory(module: Uint8Array, pages: number): Uint8Array<ArrayBuffer> {
  // After the magic number and the version.
  for (let at = 8; at < module.length; ) {
    const length = readUnsigned(module, at + 1);
    const end = length.next + length.value;
    if (module[at] === MEMORY_SECTION) return replaced(module, at, end, section(module, length.next, pages));
    at = end;
  }
  throw new Error("the engine has no memory section: it was not built by Go for WebAssembly");
}

/** A memory section with one memory. */
function section(module: Uint8Array, at: number, pages: number): number[] {
  const count = readUnsigned(module, at);
  const flags = module[count.next];
  if (count.value !== 1 || flags === undefined || flags > HAS_MAXIMUM) {
    throw new Error("the engine has more than one memory, or one of another type");
  }
  const { value: minimum } = readUnsigned(module, count.next + 1);
  if (minimum > pages) throw new Error(`the engine starts with ${minimum} pages of memory, more than ${pages}`);
  const body = [1, HAS_MAXIMUM, ...unsigned(minimum), ...unsigned(pages)];
  return [MEMORY_SECTION, ...unsigned(body.length), ...body];
}

function replaced(module: Uint8Array, from: number, to: number, by: readonly number[]): Uint8Array<ArrayBuffer> {
  const result = new Uint8Array(module.length - (to - from) + by.length);
  result.set(module.subarray(0, from));
  result.set(by, from);
  result.set(module.subarray(to), from + by.length);
  return result;
}

/** LEB128. */
function readUnsigned(bytes: Uint8Array, at: number): { value: number; next: number } {
  let value = 0;
  for (let shift = 0, next = at; ; shift += 7) {
    const byte = bytes[next++]!;
    value += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return { value, next };
  }
}

function unsigned(value: number): number[] {
  const low = value % 0x80;
  return value < 0x80 ? [low] : [low | 0x80, ...unsigned(Math.floor(value / 0x80))];
}
