import { Agent, type RequestOptions, request } from "node:https";

/** The server's answer to one request. */
export interface Answer<T = unknown> {
  readonly status: number;
  readonly body: T;
}

/** How the server is reached. */
export interface Access {
  readonly port: number;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** The response did not come, or not whole: what became of the request is unknown. */
export class LostResponse extends Error {}

/** Longer than any answer takes, on a busy machine. */
const PATIENCE = 60_000;

/**
 * As little of a client as a history needs, so that no cleverness of a real one hides what the server does: it repeats
 * nothing, and a request without a whole answer rejects with {@link LostResponse}.
 */
export class Connection {
  readonly #agent: Agent;
  readonly #port: number;

  constructor({ port, ca, cert, key }: Access) {
    this.#port = port;
    this.#agent = new Agent({ keepAlive: true, ca, cert, key, servername: "localhost" });
  }

  async ask<T>(
    method: string,
    path: string,
    { body, type = "application/json", patience = PATIENCE }: { body?: object; type?: string; patience?: number } = {},
  ): Promise<Answer<T>> {
    const text = body && JSON.stringify(body);
    const headers = text ? { "content-type": type, "content-length": Buffer.byteLength(text) } : {};
    const signal = AbortSignal.timeout(patience);
    try {
      const { status, chunks } = await this.#send({ method, path, headers, signal }, text);
      let answer = "";
      for await (const chunk of chunks) answer += chunk;
      return { status, body: JSON.parse(answer) as T };
    } catch (error) {
      throw new LostResponse(String(error));
    }
  }

  /** The lines of a stream, without one that the connection's end has cut; or the Status by which it is refused. */
  async *lines(path: string, signal: AbortSignal): AsyncGenerator<unknown, void, void> {
    let rest = "";
    try {
      const { status, chunks } = await this.#send({ method: "GET", path, headers: {}, signal });
      for await (const chunk of chunks) {
        const lines = (rest + chunk).split("\n");
        rest = status === 200 ? lines.pop()! : rest + chunk;
        if (status === 200) for (const line of lines) yield JSON.parse(line);
      }
      if (status !== 200) yield { type: "ERROR", object: statusIn(rest, status) };
    } catch (error) {
      if (error instanceof SyntaxError) throw error;
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  #send(options: RequestOptions, text?: string): Promise<{ status: number; chunks: AsyncIterable<string> }> {
    return new Promise((resolve, reject) => {
      const outgoing = request({ ...options, host: "127.0.0.1", port: this.#port, agent: this.#agent }, (incoming) => {
        incoming.setEncoding("utf8");
        resolve({ status: incoming.statusCode ?? 0, chunks: incoming });
      });
      outgoing.once("error", reject);
      outgoing.end(text);
    });
  }
}

/** A server that has too much to do, or that starts, refuses in plain text. */
function statusIn(text: string, code: number): object {
  return text.startsWith("{") ? JSON.parse(text) : { kind: "Status", code, message: text };
}
