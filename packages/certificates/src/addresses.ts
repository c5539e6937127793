import { formatIp, isMappedIp } from "@konverge/core";

/** The 4 bytes of an IPv4 address that is written as an IPv6 one; others as they are. */
export function unmapped(bytes: Uint8Array): Uint8Array {
  return isMappedIp({ bytes, zone: "" }) ? bytes.subarray(12) : bytes;
}

/** An IP address as messages have it. */
export function addressText(bytes: Uint8Array): string {
  return formatIp({ bytes: unmapped(bytes), zone: "" });
}

export function sameAddress(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(unmapped(a), unmapped(b)) === 0;
}
