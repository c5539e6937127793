import type { Duplex } from "node:stream";

/** A record that a name server has. */
export interface DnsRecord {
  readonly name: string;
  readonly type: "A" | "CNAME" | "SRV" | "PTR";
  /** As `dig +short` prints it. */
  readonly value: string;
}

/** The network as a container sees it: other pods, Services and names, without a packet being sent. */
export interface ContainerNetwork {
  /** Its pod's address. */
  readonly address: string;
  readonly hostName: string;
  /** With the pod's subdomain, if it has one. */
  readonly fullName: string;
  /** Asks the cluster's name server: a name as it is, without search domains. */
  lookup(name: string, type?: DnsRecord["type"]): readonly DnsRecord[];
  /** The addresses that a name stands for, as programs resolve it: hosts file and search domains first. */
  resolve(name: string): readonly string[];
  /** Connects to a port of an address or name. Rejects as the system call does: refused, unreachable, unknown. */
  connect(host: string, port: number): Promise<Duplex>;
  /**
   * Accepts connections on a port of the pod until the container ends, or what this returns is called; the address is that of
   * who connects.
   */
  listen(port: number, accept: (connection: Duplex, from: string) => void): () => void;
  /** Sends a datagram and waits for the answer; undefined when none comes. */
  ask(host: string, port: number, data: Uint8Array): Promise<Uint8Array | undefined>;
  /** Answers datagrams on a port of the pod until the container ends. */
  answer(port: number, reply: (data: Uint8Array, from: string) => Promise<Uint8Array | undefined>): void;
}
