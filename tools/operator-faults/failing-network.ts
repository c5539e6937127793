import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { request as secureRequest } from "node:https";
import type { AddressInfo } from "node:net";
import type { Random } from "@konverge/core";

/** A write that the API server has carried out. */
export interface Write {
  readonly request: string;
  /** The resource version that it made: versions of all objects of one etcd are in one order. */
  readonly revision: number;
  /** Of a Lease: who holds it now. */
  readonly holder?: string | undefined;
}

interface Upstream {
  readonly url: string;
  readonly ca: string;
  readonly token: string;
}

/** What lies between one replica of an operator and the API server: it fails, and it can be cut. It sees each write that happened. */
export class FailingNetwork implements AsyncDisposable {
  readonly #upstream: Upstream;
  readonly #random: Random;
  readonly #server = createServer((incoming, response) => this.#carry(incoming, response));
  #isCut = false;
  /** The newest version that an answer had. */
  #newest = 0;
  /** The share of the requests that fail. */
  failing = 0;
  /** How many did. */
  failed = 0;
  requests = 0;
  readonly writes: Write[] = [];
  /** Requests that its role did not allow. */
  readonly forbidden: string[] = [];

  constructor(upstream: Upstream, random: Random) {
    this.#upstream = upstream;
    this.#random = random;
    this.#server.on("upgrade", (_, socket) => socket.destroy());
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  /** The address that stands for the API server. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  cut(isCut: boolean): void {
    this.#isCut = isCut;
    if (isCut) this.#server.closeAllConnections();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  #carry(incoming: IncomingMessage, response: ServerResponse): void {
    this.requests++;
    if (this.#isCut) return void response.destroy();
    const fails = this.#random.next() < this.failing;
    if (fails) this.failed++;
    const how = fails ? this.#random.pick(["refused", "cut", "answer lost"] as const) : undefined;
    if (how === "cut") return void response.destroy();
    if (how === "refused") {
      incoming.resume();
      response.writeHead(503, { "content-type": "text/plain" }).end("the network fails");
      return;
    }
    const { url, ca, token } = this.#upstream;
    const newest = this.#newest;
    const upstream = secureRequest(
      new URL(incoming.url!, url),
      { method: incoming.method, ca, headers: { ...incoming.headers, authorization: `Bearer ${token}` } },
      (answer) => {
        this.#observe(incoming, answer, newest);
        if (how === "answer lost") {
          answer.resume();
          response.destroy();
          return;
        }
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
        answer.once("error", () => response.destroy());
        response.once("close", () => answer.destroy());
      },
    );
    upstream.once("error", () => response.destroy());
    response.once("close", () => upstream.destroy());
    incoming.pipe(upstream);
  }

  /** `newest` is the newest version that was known when the request was sent: an older one in the answer says that nothing changed. */
  #observe({ method, url }: IncomingMessage, answer: IncomingMessage, newest: number): void {
    const request = `${method} ${url}`;
    if (answer.statusCode === 403) this.forbidden.push(request);
    if (method === "GET" || answer.statusCode! >= 300) return;
    const parts: Buffer[] = [];
    answer.on("data", (part: Buffer) => void parts.push(part));
    answer.once("end", () => {
      const object = parsed(Buffer.concat(parts).toString());
      const revision = Number(object?.metadata?.resourceVersion);
      this.#newest = Math.max(this.#newest, revision || 0);
      if (revision > newest) this.writes.push({ request, revision, holder: object?.spec?.holderIdentity });
    });
  }
}

interface Answer {
  readonly metadata?: { readonly resourceVersion?: string };
  readonly spec?: { readonly holderIdentity?: string };
}

function parsed(text: string): Answer | undefined {
  try {
    return JSON.parse(text) as Answer;
  } catch {
    return undefined; // A log, or a list that was cut.
  }
}
