import { BlockList, isIP } from "node:net";
import type { FieldError } from "@konverge/core";
import { invalidValue } from "@konverge/schema";

const BAD_IP = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";

/** What is wrong with something that has to be an address. */
export function ipErrors(address: string, field: string): FieldError[] {
  const detail = ipProblem(address);
  return detail === undefined ? [] : [invalidValue(field, address, detail)];
}

/** The version of an address: 4 or 6; 0 when it is none, or has a zone, which Kubernetes does not know. */
export function ipVersion(text: string): number {
  return text.includes("%") ? 0 : isIP(text);
}

/** Why a text is no address, or is one in a form that programs read differently. */
export function ipProblem(address: string): string | undefined {
  if (ipVersion(address) === 0) {
    const isPadded = /^\d+\.\d+\.\d+\.\d+$/.test(address) && isIP(address.replaceAll(/(^|\.)0+(?=\d)/g, "$1")) === 4;
    return isPadded ? "must not have leading 0s" : BAD_IP;
  }
  return isIP(address) === 6 && canonicalIPv6(address).startsWith("::ffff:")
    ? "must not be an IPv4-mapped IPv6 address"
    : undefined;
}

/** As Kubernetes writes it. */
export function canonicalIPv6(address: string): string {
  return new URL(`http://[${address}]/`).hostname.slice(1, -1);
}

/** The bits of an address as one number. */
export function addressBits(address: string): bigint {
  if (isIP(address) === 4) return address.split(".").reduce((bits, byte) => (bits << 8n) | BigInt(byte), 0n);
  const [head = "", tail] = canonicalIPv6(address).split("::");
  const words = (text: string | undefined) => (text ? text.split(":") : []);
  const zeros = Array<string>(8 - words(head).length - words(tail).length).fill("0");
  const all = [...words(head), ...(tail === undefined ? [] : zeros), ...words(tail)];
  return all.reduce((bits, word) => (bits << 16n) | BigInt(`0x${word}`), 0n);
}

/** Addresses that mean something else on each machine; IPv4 addresses also in the notation of IPv6. */
const SPECIAL = [
  { block: block("0.0.0.0/32", "::/128"), detail: (address: string) => `may not be unspecified (${address})` },
  { block: block("127.0.0.0/8", "::1/128"), detail: () => "may not be in the loopback range (127.0.0.0/8, ::1/128)" },
  {
    block: block("169.254.0.0/16", "fe80::/10"),
    detail: () => "may not be in the link-local range (169.254.0.0/16, fe80::/10)",
  },
  {
    block: block("224.0.0.0/24", ...Array.from({ length: 16 }, (_, flags) => `ff${flags.toString(16)}2::/16`)),
    detail: () => "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)",
  },
];

/** What is wrong with an address that traffic is sent to: loopback and link-local addresses are refused. */
export function endpointIpErrors(address: string, field: string): FieldError[] {
  const family = isIP(address) === 6 ? "ipv6" : "ipv4";
  return SPECIAL.filter(({ block: list }) => list.check(address, family)).map(({ detail }) =>
    invalidValue(field, address, detail(address)),
  );
}

function block(...subnets: readonly string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [address = "", length] = subnet.split("/");
    list.addSubnet(address, Number(length), address.includes(":") ? "ipv6" : "ipv4");
  }
  return list;
}
