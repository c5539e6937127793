/** Where on this machine a program listens. */
export interface LocalAddress {
  /** Default: 127.0.0.1. */
  readonly host?: string;
  readonly port: number;
}

/**
 * Which ports of pods are really listened on, and where on this machine: programs in pods share its ports, so a port of a
 * pod may be another one here.
 */
export class ExposedPorts {
  readonly #known = new Map<string, Map<number, readonly LocalAddress[]>>();

  /** A pod's port is at the first of these addresses that accepts connections. */
  expose(uid: string, port: number, addresses: readonly LocalAddress[]): () => void {
    const ports = this.#known.get(uid) ?? new Map<number, readonly LocalAddress[]>();
    this.#known.set(uid, ports);
    ports.set(port, addresses);
    return () => {
      if (ports.get(port) === addresses) ports.delete(port);
      if (ports.size === 0) this.#known.delete(uid);
    };
  }

  find(uid: string, port: number): readonly LocalAddress[] {
    return this.#known.get(uid)?.get(port) ?? [];
  }
}
