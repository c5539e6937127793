import { isMappedIp, parseIp } from "@konverge/core";

/**
 * Whether the API server connects to an address that an object names: not if it is loopback, link-local or multicast.
 * Otherwise a client that can write an object's status could reach servers that listen on this machine only.
 */
export function isProxyable(text: string): boolean {
  const ip = parseIp(text);
  if (typeof ip === "string" || ip.zone !== "" || isMappedIp(ip)) return false;
  const [first = 0, second = 0] = ip.bytes;
  if (ip.bytes.length === 4) {
    const isBroadcast = ip.bytes.every((byte) => byte === 255);
    const isLocal = first === 127 || (first === 169 && second === 254) || ip.bytes.every((byte) => byte === 0);
    return !isBroadcast && !isLocal && (first < 224 || first > 239);
  }
  const isLoopback = ip.bytes.every((byte, i) => byte === (i === 15 ? 1 : 0));
  const isUnspecified = ip.bytes.every((byte) => byte === 0);
  const isLinkLocal = first === 0xfe && (second & 0xc0) === 0x80;
  return !isLoopback && !isUnspecified && !isLinkLocal && first !== 0xff;
}
