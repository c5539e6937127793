import { isIP } from "node:net";
import type { FieldError } from "@konverge/core";
import { invalidValue } from "@konverge/schema";
import { addressBits, canonicalIPv6 } from "./ip-addresses.ts";

export const BAD_CIDR = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

/** A range of addresses: `10.9.8.0/24`. */
export interface Cidr {
  readonly address: string;
  readonly length: number;
  readonly family: "ipv4" | "ipv6";
}

/** Reads a range; undefined when it is none. */
export function parseCidr(text: string): Cidr | undefined {
  const [address = "", length = "", ...rest] = text.split("/");
  const version = isIP(address);
  if (version === 0 || rest.length > 0 || !/^\d{1,3}$/.test(length)) return undefined;
  if (Number(length) > (version === 4 ? 32 : 128)) return undefined;
  return { address, length: Number(length), family: version === 4 ? "ipv4" : "ipv6" };
}

/** What is wrong with something that has to be a range in the form that programs read alike. */
export function cidrErrors(text: string, field: string): FieldError[] {
  const detail = cidrProblem(text);
  return detail === undefined ? [] : [invalidValue(field, text, detail)];
}

/** Why a text is no range, or one that not all programs read alike. */
export function cidrProblem(text: string): string | undefined {
  const cidr = parseCidr(text);
  const isPadded = (part: string) => /^0\d/.test(part);
  if (!cidr || isPadded(text.slice(text.indexOf("/") + 1))) {
    const stripped = text.replaceAll(/(^|[./])0+(?=\d)/g, "$1");
    return parseCidr(stripped) ? "must not have leading 0s in IP or prefix length" : BAD_CIDR;
  }
  const { address, length, family } = cidr;
  if (family === "ipv6" && canonicalIPv6(address).startsWith("::ffff:")) {
    return "must not have an IPv4-mapped IPv6 address";
  }
  const hostBits = BigInt((family === "ipv4" ? 32 : 128) - length);
  if (addressBits(address) & ((1n << hostBits) - 1n)) return "must not have bits set beyond the prefix length";
  return undefined;
}

/** As Kubernetes writes it. */
export function canonicalCidr({ address, length, family }: Cidr): string {
  return `${family === "ipv4" ? address : canonicalIPv6(address)}/${length}`;
}
