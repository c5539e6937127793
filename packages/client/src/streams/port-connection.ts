/** A connection to a port of a pod. */
export interface PodConnection {
  /** What the pod sends; ends when the pod ends its side, throws when the connection fails. */
  readonly readable: AsyncIterable<Uint8Array>;
  write(data: Uint8Array): void;
  /** Closes the sending side; the pod can still send. */
  end(): void;
  /** Drops the connection. */
  close(): void;
}

/** A local port that is forwarded. */
export interface PortListener extends AsyncDisposable {
  readonly port: number;
  close(): Promise<void>;
}
