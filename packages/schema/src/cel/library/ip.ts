/** `ip()` and `cidr()`: addresses and networks. */
import {
  formatIp,
  type IpAddress,
  type IpPrefix,
  isMappedIp,
  maskIp,
  parseIp,
  parsePrefix,
  quoted,
  shareBits,
} from "@konverge/core";
import type { Library } from "../types/declarations.ts";
import { CelError, noSuchOverload, Opaque, type Value } from "../values/values.ts";

class Ip extends Opaque {
  readonly typeName = "net.IP";
  readonly address: IpAddress;
  constructor(address: IpAddress) {
    super();
    this.address = address;
  }
  override get size(): number {
    return this.address.bytes.length;
  }
  equal(other: Value): Value {
    return other instanceof Ip ? formatIp(this.address) === formatIp(other.address) : noSuchOverload(other);
  }
}

class Cidr extends Opaque {
  readonly typeName = "net.CIDR";
  readonly prefix: IpPrefix;
  constructor(prefix: IpPrefix) {
    super();
    this.prefix = prefix;
  }
  override get size(): number {
    return Math.ceil(this.prefix.bits / 8);
  }
  equal(other: Value): Value {
    return other instanceof Cidr ? this.toString() === other.toString() : noSuchOverload(other);
  }
  override toString(): string {
    return `${formatIp(this.prefix.address)}/${this.prefix.bits}`;
  }
}

function parseAddress(text: string): IpAddress | CelError {
  const address = parseIp(text);
  if (typeof address === "string")
    return new CelError(`IP Address ${quoted(text)} parse error during conversion from string: ${address}`);
  if (address.zone !== "") return new CelError(`IP address ${quoted(text)} with zone value is not allowed`);
  return isMappedIp(address) ? new CelError(`IPv4-mapped IPv6 address ${quoted(text)} is not allowed`) : address;
}

function toIp(text: string): Value {
  const address = parseAddress(text);
  return address instanceof CelError ? address : new Ip(address);
}

function parseNetwork(text: string): IpPrefix | string {
  const prefix = parsePrefix(text);
  if (typeof prefix === "string") return `network address parse error during conversion from string: ${prefix}`;
  return isMappedIp(prefix.address) ? `IPv4-mapped IPv6 address ${quoted(text)} is not allowed` : prefix;
}

function toCidr(text: string): Value {
  const prefix = parseNetwork(text);
  if (typeof prefix !== "string") return new Cidr(prefix);
  return new CelError(`network address parse error during conversion from string: ${prefix}`);
}

function isCanonical(text: string): Value {
  const address = parseAddress(text);
  return address instanceof CelError ? address : formatIp(address) === text;
}

const isIpv4 = ({ bytes }: IpAddress) => bytes.length === 4;
const group = ({ bytes }: IpAddress, i: number) => (bytes[2 * i]! << 8) | bytes[2 * i + 1]!;
const isAll = ({ bytes }: IpAddress, value: number) => bytes.every((byte) => byte === value);
const isLoopback = (a: IpAddress) =>
  isIpv4(a) ? a.bytes[0] === 127 : a.bytes.every((byte, i) => byte === (i === 15 ? 1 : 0));
const isMulticast = (a: IpAddress) => (isIpv4(a) ? (a.bytes[0]! & 0xf0) === 0xe0 : a.bytes[0] === 0xff);
const isLinkLocal = (a: IpAddress) =>
  isIpv4(a) ? a.bytes[0] === 169 && a.bytes[1] === 254 : (group(a, 0) & 0xffc0) === 0xfe80;
const isLinkLocalMulticast = (a: IpAddress) =>
  isIpv4(a) ? a.bytes[0] === 224 && a.bytes[1] === 0 && a.bytes[2] === 0 : (group(a, 0) & 0xff0f) === 0xff02;
const isGlobal = (a: IpAddress) =>
  !isAll(a, 0) && !(isIpv4(a) && isAll(a, 255)) && !isLoopback(a) && !isMulticast(a) && !isLinkLocal(a);

const test =
  (holds: (address: IpAddress) => boolean) =>
  ({ address }: Ip): Value =>
    holds(address);

function containsIp({ prefix }: Cidr, other: Value): Value {
  return other instanceof Ip ? shareBits(prefix.address, other.address, prefix.bits) : noSuchOverload();
}

function containsCidr({ prefix }: Cidr, other: Value): Value {
  if (!(other instanceof Cidr)) return noSuchOverload(other);
  const bits = Math.min(prefix.bits, other.prefix.bits);
  return prefix.bits <= other.prefix.bits && shareBits(prefix.address, other.prefix.address, bits);
}

/** Kubernetes' functions of IP addresses. */
export const ip: Library = {
  overloads: [
    ["string_to_ip", "ip(string): net.IP", toIp],
    ["ip_family", "net.IP.family(): int", ({ address }: Ip) => (isIpv4(address) ? 4n : 6n)],
    ["ip_is_canonical", "ip.isCanonical(string): bool", isCanonical],
    ["ip_is_unspecified", "net.IP.isUnspecified(): bool", test((a) => isAll(a, 0))],
    ["ip_is_loopback", "net.IP.isLoopback(): bool", test(isLoopback)],
    ["ip_is_link_local_multicast", "net.IP.isLinkLocalMulticast(): bool", test(isLinkLocalMulticast)],
    ["ip_is_link_local_unicast", "net.IP.isLinkLocalUnicast(): bool", test(isLinkLocal)],
    ["ip_is_global_unicast", "net.IP.isGlobalUnicast(): bool", test(isGlobal)],
    ["is_ip", "isIP(string): bool", (text: string) => !(parseAddress(text) instanceof CelError)],
    ["ip_to_string", "string(net.IP): string", ({ address }: Ip) => formatIp(address)],
  ],
};

/** Kubernetes' functions of IP networks. */
export const cidr: Library = {
  overloads: [
    ["string_to_cidr", "cidr(string): net.CIDR", toCidr],
    [
      "cidr_contains_ip_string",
      "net.CIDR.containsIP(string): bool",
      (c: Cidr, text: string) => containsIp(c, toIp(text)),
    ],
    ["cidr_contains_ip_ip", "net.CIDR.containsIP(net.IP): bool", containsIp],
    [
      "cidr_contains_cidr_string",
      "net.CIDR.containsCIDR(string): bool",
      (c: Cidr, text: string) => containsCidr(c, toCidr(text)),
    ],
    ["cidr_contains_cidr", "net.CIDR.containsCIDR(net.CIDR): bool", containsCidr],
    ["cidr_ip", "net.CIDR.ip(): net.IP", ({ prefix }: Cidr) => new Ip(prefix.address)],
    ["cidr_prefix_length", "net.CIDR.prefixLength(): int", ({ prefix }: Cidr) => BigInt(prefix.bits)],
    [
      "cidr_masked",
      "net.CIDR.masked(): net.CIDR",
      ({ prefix: { address, bits } }: Cidr) => new Cidr({ address: { bytes: maskIp(address, bits), zone: "" }, bits }),
    ],
    ["is_cidr", "isCIDR(string): bool", (text: string) => typeof parseNetwork(text) !== "string"],
    ["cidr_to_string", "string(net.CIDR): string", (c: Cidr) => c.toString()],
  ],
};
