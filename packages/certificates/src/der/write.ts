/** The few forms of DER that certificates are made of. */

/** One value: its tag, the length of its content, its content. */
function value(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag, ...length(content.length)]), content]);
}

function length(size: number): number[] {
  if (size < 0x80) return [size];
  const bytes: number[] = [];
  for (let rest = size; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return [0x80 | bytes.length, ...bytes];
}

/** Values in a fixed order. */
export const sequence = (...items: readonly Uint8Array[]) => value(0x30, ...items);
/** Values in no order. */
export const set = (...items: readonly Uint8Array[]) => value(0x31, ...items);
/** Bytes. */
export const octetString = (bytes: Uint8Array) => value(0x04, bytes);
/** Text. */
export const utf8 = (text: string) => value(0x0c, Buffer.from(text));
/** Yes or no. */
export const boolean = (flag: boolean) => value(0x01, Buffer.from([flag ? 0xff : 0]));
/** The parameters of algorithms that have none. */
export const nothing = () => value(0x05);
/** A context tag around whole values. */
export const explicit = (tag: number, ...items: readonly Uint8Array[]) => value(0xa0 | tag, ...items);
/** A context tag in place of a primitive value's own. */
export const implicit = (tag: number, content: Uint8Array) => value(0x80 | tag, content);

/** A bit string of whole bytes, the last of which may have unused bits. */
export function bitString(bytes: Uint8Array, unused = 0): Buffer {
  return value(0x03, Buffer.from([unused]), bytes);
}

/** A number that is not negative, most significant byte first. */
export function integer(bytes: Uint8Array): Buffer {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const rest = bytes.subarray(start);
  return value(0x02, Buffer.from((rest[0] ?? 0) & 0x80 ? [0] : []), rest);
}

/** An object identifier: `2.5.4.3`. */
export function identifier(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split(".").map(Number);
  const bytes = [first * 40 + second];
  for (const part of rest) {
    const groups = [part & 0x7f];
    for (let high = Math.floor(part / 128); high > 0; high = Math.floor(high / 128))
      groups.unshift((high & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return value(0x06, Buffer.from(bytes));
}

/** A moment to the second; years from 2050 on need the longer form. */
export function time(milliseconds: number): Buffer {
  const text = `${new Date(milliseconds).toISOString().slice(0, 19).replace(/[-:T]/g, "")}Z`;
  return Number(text.slice(0, 4)) < 2050 ? value(0x17, Buffer.from(text.slice(2))) : value(0x18, Buffer.from(text));
}
