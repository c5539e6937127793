import { BlockList, isIP } from "node:net";
import { type HeaderMap, headerOf } from "@konverge/core";

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

/** Whether an address, or `localhost`, stays on this machine. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, "").toLowerCase();
  if (bare === "localhost" || bare.endsWith(".localhost")) return true;
  const family = isIP(bare);
  return family !== 0 && LOOPBACK.check(bare, family === 6 ? "ipv6" : "ipv4");
}

/**
 * Whether an unauthenticated request comes from a program on this machine, as far as its headers show. A web page
 * in the user's browser can reach loopback addresses too, under its own name: its Host or Origin gives it away.
 */
export function isFromThisMachine(headers: HeaderMap): boolean {
  const host = headerOf(headers, "host") ?? "";
  const origin = headerOf(headers, "origin");
  return isLoopback(withoutPort(host)) && (origin === undefined || isLoopback(hostOf(origin)));
}

function withoutPort(host: string): string {
  return host.replace(/:\d+$/, "");
}

function hostOf(origin: string): string {
  return URL.canParse(origin) ? new URL(origin).hostname : "";
}
