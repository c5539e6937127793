/** A connection to a port of a pod. */
export interface PodConnection {
  /** What the pod sends; ends when the pod ends its side, throws when the connection fails. */
  readonly readable: AsyncIterable<Uint8Array>;
  write(data: Uint8Array): void;
  /** No more will be written; the pod may still send. */
  end(): void;
  /** Drops the connection. */
  close(): void;
}

/** Where local connections are taken. */
export interface PortListener extends AsyncDisposable {
  readonly port: number;
  close(): Promise<void>;
}
