import { InvalidArgumentError } from "commander";

/** Where to listen. */
export interface Address {
  /** Absent: on all interfaces. */
  readonly host?: string;
  /** 0: any that is free. */
  readonly port: number;
  /** The port that others know it by, where that is another one. */
  readonly named?: number;
}

/** Reads an address as Kubernetes programs take it: `:8080`, `127.0.0.1:8080`, `[::1]:8080`; `0` means nowhere. */
export function parseAddress(text: string): Address | undefined {
  if (text === "0" || text === "") return undefined;
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(text) ?? [];
  if (port === undefined || Number(port) > 65_535) {
    throw new InvalidArgumentError("it must be ADDRESS:PORT, :PORT, or 0 for none.");
  }
  const host = bracketed ?? plain;
  return { ...(host && { host }), port: Number(port) };
}
