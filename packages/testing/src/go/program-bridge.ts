/** The name under which a program leaves the functions of its bridge in its global object. */
export const BRIDGE = "konverge";

/** A request to a listener of a process: its host is the name that it is reached by, its port the one that it listens on. */
export interface ListenerRequest {
  readonly port: number;
  /** Name and port, as the URL has them. */
  readonly host: string;
  /** The authorities that are trusted, PEM. */
  readonly roots: string;
  readonly path: string;
  readonly body: string;
  readonly timeoutMs: number;
}

export interface ListenerResponse {
  readonly status: number;
  readonly body: string;
}

/** Nothing listens on a port. */
export class ConnectionRefused extends Error {
  override readonly name = "ConnectionRefused";
}

/** What a request failed with, in the words of Go's net package on Linux: connections within a process have others. */
export function requestError(text: string): Error {
  const words = /^(.* dial tcp \S+): .*Connection refused$/.exec(text);
  return words ? new ConnectionRefused(`${words[1]}: connect: connection refused`) : new Error(text);
}

/** What a program leaves in its global object if it was compiled with a bridge. */
export interface ProgramBridge {
  terminate(): void;
  post(
    port: string,
    host: string,
    roots: string,
    path: string,
    body: Uint8Array,
    timeoutMs: number,
    answer: (status: number, text: string) => void,
  ): void;
}
