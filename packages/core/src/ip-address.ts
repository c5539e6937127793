/** IP addresses and prefixes as Go's net/netip reads and writes them. */
import { append } from "./append.ts";
import { quoted } from "./quoted.ts";

/** An address of either family. */
export interface IpAddress {
  /** 4 or 16 of them. */
  readonly bytes: Uint8Array;
  readonly zone: string;
}

/** Parses an address; text that is none gives the message of what is wrong with it. */
export function parseIp(text: string): IpAddress | string {
  const fail = (message: string, at = "") =>
    `ParseAddr(${quoted(text)}): ${message}${at === "" ? "" : ` (at ${quoted(at)})`}`;
  const kind = /[.:%]/.exec(text)?.[0];
  if (kind === undefined) return fail("unable to parse IP");
  if (kind === "%") return fail("missing IPv6 address");
  try {
    if (kind === ".") return { bytes: parseIpv4(text), zone: "" };
    return parseIpv6(text);
  } catch (error) {
    if (error instanceof Malformed) return fail(error.message, error.at);
    throw error;
  }
}

class Malformed extends Error {
  readonly at: string | undefined;
  constructor(message: string, at?: string) {
    super(message);
    this.at = at;
  }
}

function parseIpv4(text: string): Uint8Array {
  const fields: number[] = [];
  let digits = "";
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!;
    if (c >= "0" && c <= "9") {
      if (digits === "0") throw new Malformed("IPv4 field has octet with leading zero");
      digits += c;
      if (Number(digits) > 255) throw new Malformed("IPv4 field has value >255");
    } else if (c === ".") {
      if (i === 0 || i === text.length - 1 || text[i - 1] === ".")
        throw new Malformed("IPv4 field must have at least one digit", text.slice(i));
      if (fields.length === 3) throw new Malformed("IPv4 address too long");
      fields.push(Number(digits));
      digits = "";
    } else throw new Malformed("unexpected character", text.slice(i));
  }
  if (fields.length < 3) throw new Malformed("IPv4 address too short");
  return Uint8Array.from([...fields, Number(digits)]);
}

function parseIpv6(text: string): IpAddress {
  const percent = text.indexOf("%");
  const zone = percent < 0 ? "" : text.slice(percent + 1);
  if (percent >= 0 && zone === "") throw new Malformed("zone must be a non-empty string");
  let rest = percent < 0 ? text : text.slice(0, percent);
  const bytes: number[] = [];
  let ellipsis = -1;
  if (rest.startsWith("::")) {
    ellipsis = 0;
    rest = rest.slice(2);
  }
  while (rest !== "" && bytes.length < 16) {
    const group = /^[0-9a-fA-F]*/.exec(rest)![0];
    if (group.length > 4) throw new Malformed("each group must have 4 or less digits", rest);
    if (group === "") throw new Malformed("each colon-separated field must have at least one digit", rest);
    if (rest[group.length] === ".") {
      if (ellipsis < 0 && bytes.length !== 12)
        throw new Malformed("embedded IPv4 address must replace the final 2 fields of the address", rest);
      if (bytes.length > 12)
        throw new Malformed("too many hex fields to fit an embedded IPv4 at the end of the address", rest);
      append(bytes, parseIpv4(rest));
      rest = "";
      break;
    }
    const value = Number.parseInt(group, 16);
    bytes.push(value >> 8, value & 0xff);
    rest = rest.slice(group.length);
    if (rest === "") break;
    if (rest[0] !== ":") throw new Malformed("unexpected character, want colon", rest);
    if (rest === ":") throw new Malformed("colon must be followed by more characters", rest);
    rest = rest.slice(1);
    if (rest[0] === ":") {
      if (ellipsis >= 0) throw new Malformed("multiple :: in address", rest);
      ellipsis = bytes.length;
      rest = rest.slice(1);
    }
  }
  if (rest !== "") throw new Malformed("trailing garbage after address", rest);
  if (bytes.length < 16 && ellipsis < 0) throw new Malformed("address string too short");
  if (bytes.length === 16 && ellipsis >= 0) throw new Malformed("the :: must expand to at least one field of zeros");
  if (ellipsis >= 0) bytes.splice(ellipsis, 0, ...Array<number>(16 - bytes.length).fill(0));
  return { bytes: Uint8Array.from(bytes), zone };
}

/** An IPv6 address that stands for an IPv4 one. */
export function isMappedIp({ bytes }: IpAddress): boolean {
  return bytes.length === 16 && bytes.slice(0, 12).every((byte, i) => byte === (i < 10 ? 0 : 0xff));
}

/** The canonical text: the longest run of zeros shortened, lower case. */
export function formatIp({ bytes, zone }: IpAddress): string {
  if (bytes.length === 4) return bytes.join(".");
  const groups = Array.from({ length: 8 }, (_, i) => (bytes[2 * i]! << 8) | bytes[2 * i + 1]!);
  let longest = { start: -1, length: 1 };
  for (let i = 0; i < 8; i++) {
    let end = i;
    while (end < 8 && groups[end] === 0) end++;
    if (end - i > longest.length) longest = { start: i, length: end - i };
  }
  const hex = (from: number, to: number) =>
    groups
      .slice(from, to)
      .map((group) => group.toString(16))
      .join(":");
  const text = longest.start < 0 ? hex(0, 8) : `${hex(0, longest.start)}::${hex(longest.start + longest.length, 8)}`;
  return zone === "" ? text : `${text}%${zone}`;
}

/** A network: an address, and how many of its bits count. */
export interface IpPrefix {
  readonly address: IpAddress;
  readonly bits: number;
}

/** Parses `10.0.0.0/8`; text that is no prefix gives the message of what is wrong with it. */
export function parsePrefix(text: string): IpPrefix | string {
  const fail = (message: string) => `netip.ParsePrefix(${quoted(text)}): ${message}`;
  const slash = text.lastIndexOf("/");
  if (slash < 0) return fail("no '/'");
  const address = parseIp(text.slice(0, slash));
  if (typeof address === "string") return fail(address);
  if (address.zone !== "") return fail("IPv6 zones cannot be present in a prefix");
  const bits = text.slice(slash + 1);
  if (!/^(0|[1-9][0-9]*)$/.test(bits)) return fail(`bad bits after slash: ${quoted(bits)}`);
  if (Number(bits) > address.bytes.length * 8) return fail("prefix length out of range");
  return { address, bits: Number(bits) };
}

/** Whether the first bits of two addresses of the same family are equal. */
export function shareBits(a: IpAddress, b: IpAddress, bits: number): boolean {
  if (a.bytes.length !== b.bytes.length) return false;
  const left = maskIp(a, bits);
  const right = maskIp(b, bits);
  return left.every((byte, i) => byte === right[i]);
}

/** The address with all but the first bits set to zero. */
export function maskIp({ bytes }: IpAddress, bits: number): Uint8Array {
  return bytes.map((byte, i) => {
    const kept = Math.min(8, Math.max(0, bits - i * 8));
    return byte & (0xff << (8 - kept));
  });
}
