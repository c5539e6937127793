import { type ClientHttp2Session, connect } from "node:http2";
import type { ApiServer } from "@konverge/apiserver";
import type { ApiResponse } from "@konverge/core";
import { type Dispatcher, Pool } from "undici";
import type { Contestant } from "./contestants.ts";

/** Sends requests one way or another; resolves to the answer's text. */
export interface Caller {
  readonly name: string;
  ask(method: Dispatcher.HttpMethod, path: string, body?: object): Promise<string>;
  close(): Promise<void>;
}

export function inProcess(server: ApiServer): Caller {
  return {
    name: "in process",
    async ask(method, path, body) {
      const response = await server.transport({ method, path, headers: headersFor(method), ...encoded(body) });
      return checked(method, path, response.status, await textOf(response.body));
    },
    async close() {},
  };
}

/** The pool that Konverge's own client uses. */
export function overTls({ url, tls }: Contestant, version: "HTTP/1.1" | "HTTP/2"): Caller {
  const allowH2 = version === "HTTP/2";
  const pool = new Pool(url, {
    allowH2,
    ...(allowH2 && { connections: 1 }),
    connect: { ...tls, allowH2 },
    bodyTimeout: 0,
    headersTimeout: 0,
  });
  return {
    name: version,
    async ask(method, path, body) {
      const response = await pool.request({ method, path, headers: headersFor(method), ...encoded(body) });
      return checked(method, path, response.statusCode, await response.body.text());
    },
    close: () => pool.destroy(),
  };
}

/** Watches a path many times over, as many streams of a few connections. */
export class Watches {
  readonly #sessions: ClientHttp2Session[] = [];
  /** Of each stream, the events that have come. */
  readonly counts: number[] = [];
  #wake: (() => void) | undefined;

  static async open({ url, tls }: Contestant, path: string, count: number): Promise<Watches> {
    const watches = new Watches();
    const perSession = 100;
    for (let first = 0; first < count; first += perSession) {
      const session = connect(url, tls);
      watches.#sessions.push(session);
      const streams = Array.from({ length: Math.min(perSession, count - first) }, (_, i) =>
        watches.#watch(session, path, first + i),
      );
      await Promise.all(streams);
    }
    return watches;
  }

  /** Resolves when every stream has had this many events. */
  async all(events: number): Promise<void> {
    while (this.counts.some((count) => count < events)) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  close(): void {
    for (const session of this.#sessions) session.destroy();
  }

  #watch(session: ClientHttp2Session, path: string, index: number): Promise<void> {
    this.counts[index] = 0;
    return new Promise((resolve, reject) => {
      const stream = session.request({ ":path": path });
      stream.once("response", () => resolve());
      stream.once("error", reject);
      stream.on("data", (chunk: Buffer) => {
        for (const byte of chunk) if (byte === 10) this.counts[index]!++;
        this.#wake?.();
      });
    });
  }
}

function headersFor(method: string): Record<string, string> {
  if (method === "GET") return {};
  return { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" };
}

function encoded(body: object | undefined): { body?: string } {
  return body ? { body: JSON.stringify(body) } : {};
}

function checked(method: string, path: string, status: number, text: string): string {
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
  return text;
}

async function textOf(body: ApiResponse["body"]): Promise<string> {
  if (typeof body === "string") return body;
  if (body instanceof Uint8Array) return Buffer.from(body).toString("utf8");
  let text = "";
  for await (const chunk of body) text += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8");
  return text;
}
