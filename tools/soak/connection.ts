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

/** Longer than any answer takes, on a busy machine. */
const PATIENCE = 60_000;

/**
 * As little of a client as the soak needs, so that no cleverness of a real one hides what the server does: it repeats
 * nothing, and a request without an answer rejects.
 */
export class Connection {
  readonly #agent: Agent;
  readonly #port: number;

  constructor({ port, ca, cert, key }: Access) {
    this.#port = port;
    this.#agent = new Agent({ keepAlive: true, ca, cert, key, servername: "localhost" });
  }

  async ask<T>(method: string, path: string, body?: object, type = "application/json"): Promise<Answer<T>> {
    const text = body && JSON.stringify(body);
    const headers = text ? { "content-type": type, "content-length": Buffer.byteLength(text) } : {};
    const { status, chunks } = await this.#send({ method, path, headers }, text);
    let answer = "";
    for await (const chunk of chunks) answer += chunk;
    return { status, body: JSON.parse(answer) as T };
  }

  /** The lines of a stream, without one that the connection's end has cut; or the Status by which it is refused. */
  async *lines(path: string): AsyncGenerator<unknown, void, void> {
    const { status, chunks } = await this.#send({ method: "GET", path, headers: {} });
    let rest = "";
    if (status !== 200) {
      for await (const chunk of chunks) rest += chunk;
      yield JSON.parse(rest);
      return;
    }
    try {
      for await (const chunk of chunks) {
        const lines = (rest + chunk).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) yield JSON.parse(line);
      }
    } catch (error) {
      if ((error as { code?: string }).code !== "ECONNRESET") throw error;
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
      outgoing.setTimeout(PATIENCE, () => outgoing.destroy(new Error(`no answer within ${PATIENCE / 1000} s`)));
      outgoing.once("error", reject);
      outgoing.end(text);
    });
  }
}
