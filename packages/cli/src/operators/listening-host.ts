import { isIP } from "node:net";
import { networkInterfaces } from "node:os";

/**
 * Where to listen so that an address reaches this machine: at that address alone, if it is one of this machine's own. A name,
 * and an address that something else forwards from, say nothing about it: then at all addresses, which is undefined.
 */
export function listeningHost(address: string): string | undefined {
  if (address === "localhost") return address;
  if (isIP(address) === 4 && address.startsWith("127.")) return address;
  const own = Object.values(networkInterfaces()).flatMap((one) => one ?? []);
  return own.some((one) => one.address === address) ? address : undefined;
}
