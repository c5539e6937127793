import { isIP } from "node:net";
import { durationMs, parsePrefix } from "@konverge/core";
import { InvalidArgumentError } from "commander";

/** A whole number, not below zero. */
export function whole(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError("it must be a whole number.");
  return Number(text);
}

/** A whole number above zero. */
export function positive(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError("it must be a whole number above 0.");
  return Number(text);
}

/** A duration in milliseconds: `500ms`, `2s`, `5m`. */
export function milliseconds(text: string): number {
  try {
    const ms = durationMs(text);
    if (ms > 0) return ms;
  } catch {
    // The message below says what it has to be.
  }
  throw new InvalidArgumentError("it must be a duration above 0, such as 500ms, 2s or 5m.");
}

/** The number of a port; 0 stands for any that is free. */
export function port(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new InvalidArgumentError("it must be a number up to 65535.");
  return Number(text);
}

/** A number above zero. */
export function factor(text: string): number {
  if (!(Number(text) > 0)) throw new InvalidArgumentError("it must be a number above 0.");
  return Number(text);
}

/** An address of either family. */
export function ipAddress(text: string): string {
  if (isIP(text) === 0) throw new InvalidArgumentError("it must be an IP address.");
  return text;
}

/** A range of IPv4 addresses that has room for the ranges of nodes: `10.88.0.0/16`. */
export function ipv4Prefix(text: string): string {
  const prefix = parsePrefix(text);
  if (typeof prefix === "string" || prefix.address.bytes.length !== 4 || prefix.bits > 24)
    throw new InvalidArgumentError("it must be an IPv4 CIDR with a prefix of 24 bits or fewer.");
  return text;
}
