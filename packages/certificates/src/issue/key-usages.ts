import * as der from "../der/write.ts";
import { ANY_PURPOSE, CLIENT_AUTH, SERVER_AUTH } from "../identifiers.ts";

/** The bits of a certificate's key usage, by Kubernetes' names for them. */
const BITS: Readonly<Record<string, number>> = {
  signing: 0,
  "digital signature": 0,
  "content commitment": 1,
  "key encipherment": 2,
  "data encipherment": 3,
  "key agreement": 4,
  "cert sign": 5,
  "crl sign": 6,
  "encipher only": 7,
  "decipher only": 8,
};

/** The purposes of a certificate, likewise. */
const PURPOSES: Readonly<Record<string, string>> = {
  any: ANY_PURPOSE,
  "server auth": SERVER_AUTH,
  "client auth": CLIENT_AUTH,
  "code signing": "1.3.6.1.5.5.7.3.3",
  "email protection": "1.3.6.1.5.5.7.3.4",
  "s/mime": "1.3.6.1.5.5.7.3.4",
  "ipsec end system": "1.3.6.1.5.5.7.3.5",
  "ipsec tunnel": "1.3.6.1.5.5.7.3.6",
  "ipsec user": "1.3.6.1.5.5.7.3.7",
  timestamping: "1.3.6.1.5.5.7.3.8",
  "ocsp signing": "1.3.6.1.5.5.7.3.9",
  "microsoft sgc": "1.3.6.1.4.1.311.10.3.3",
  "netscape sgc": "2.16.840.1.113730.4.1",
};

/** What usages mean in a certificate. */
export function usagesOf(usages: readonly string[]): { bits: number[]; purposes: string[] } {
  const unknown = usages.filter((usage) => BITS[usage] === undefined && PURPOSES[usage] === undefined);
  if (unknown.length > 0) throw new Error(`unrecognized usage values: [${unknown.join(" ")}]`);
  const bits = new Set(usages.flatMap((usage) => BITS[usage] ?? []));
  const purposes = new Set(usages.flatMap((usage) => PURPOSES[usage] ?? []));
  return { bits: [...bits].sort((a, b) => a - b), purposes: [...purposes] };
}

/** The value of the extension for some bits: as many bytes as they need. */
export function keyUsage(bits: readonly number[]): Buffer {
  const bytes = Buffer.alloc(bits.some((bit) => bit > 7) ? 2 : 1);
  for (const bit of bits) bytes[bit >> 3]! |= 0x80 >> (bit & 7);
  const last = Math.max(...bits) & 7;
  return der.bitString(bytes, 7 - last);
}
