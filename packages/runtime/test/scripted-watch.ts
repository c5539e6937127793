import { Client } from "@konverge/client";
import type { AnyObject, ApiRequest, ApiResponse, KindRef, VirtualClock } from "@konverge/core";

/** ConfigMap-like objects, for tests that need no more than a name and a version. */
export const Thing: KindRef<AnyObject> = {
  group: "example.com",
  version: "v1",
  kind: "Thing",
  plural: "things",
  namespaced: true,
};

export function thing(name: string, resourceVersion: number, more: Partial<AnyObject> = {}): AnyObject {
  const { metadata, ...rest } = more;
  return {
    apiVersion: "example.com/v1",
    kind: "Thing",
    metadata: { name, namespace: "default", uid: `uid-${name}`, resourceVersion: String(resourceVersion), ...metadata },
    ...rest,
  };
}

/** One open watch request, as the test that plays the server sees it. */
export interface OpenWatch {
  readonly request: ApiRequest;
  /** Sends an event. */
  send(type: "ADDED" | "MODIFIED" | "DELETED", object: AnyObject): void;
  bookmark(resourceVersion: number): void;
  /** Ends the initial listing. */
  synced(resourceVersion: number): void;
  expire(): void;
  end(): void;
}

/** An API server of which the test speaks every word: it only knows watches, and tells the test of each that opens. */
export function scriptedWatch(clock: VirtualClock): { client: Client; watches: OpenWatch[] } {
  const watches: OpenWatch[] = [];
  const transport = async (request: ApiRequest): Promise<ApiResponse> => {
    const lines = new LineStream(request.signal);
    const send = (type: string, object: object) =>
      clock.post(() => lines.push(JSON.stringify({ type, object })), "event");
    const mark = (resourceVersion: number, annotations?: object) =>
      send("BOOKMARK", { kind: "Thing", metadata: { resourceVersion: String(resourceVersion), annotations } });
    watches.push({
      request,
      send,
      bookmark: (resourceVersion) => mark(resourceVersion),
      synced: (resourceVersion) => mark(resourceVersion, { "k8s.io/initial-events-end": "true" }),
      expire: () => send("ERROR", { kind: "Status", code: 410, reason: "Expired", message: "too old" }),
      end: () => clock.post(() => lines.end(), "event"),
    });
    return { status: 200, headers: {}, body: lines };
  };
  return { client: new Client(transport, { clock }), watches };
}

class LineStream implements AsyncIterable<string> {
  readonly #lines: string[] = [];
  #wake: (() => void) | undefined;
  #ended = false;

  constructor(signal: AbortSignal | undefined) {
    signal?.addEventListener("abort", () => this.end());
  }

  push(line: string): void {
    this.#lines.push(`${line}\n`);
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    for (;;) {
      const line = this.#lines.shift();
      if (line !== undefined) yield line;
      else if (this.#ended) return;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}
