import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import type { TLSSocket } from "node:tls";
import { type Endpoint, openTls } from "./send.ts";

const IDLE = 300;
const HALF_HEADS = 200;
/** More than fill the memory for bodies, if each is held. */
const HELD_BODIES = 150;
const BODY = 3 * 1024 * 1024;
const STREAMS = 1000;

/**
 * Anonymous clients that want nothing: idle connections, heads and bodies of which the rest never comes, and as many streams as
 * one connection may have. They stay while bystanders measure.
 */
export class Crowd {
  readonly #endpoint: Endpoint;
  readonly #sockets: TLSSocket[] = [];
  #session: ClientHttp2Session | undefined;
  #streams = 0;

  /** The endpoint is that of an anonymous client. */
  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
  }

  async gather(): Promise<void> {
    for (let i = 0; i < IDLE; i++) await this.#connect("");
    for (let i = 0; i < HALF_HEADS; i++) await this.#connect("GET /healthz HTTP/1.1\r\nhost: localhost\r\nx: ");
    const head = `POST /api/v1/namespaces/fuzz/configmaps HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${BODY}\r\n\r\n`;
    for (let i = 0; i < HELD_BODIES; i++) await this.#connect(head, Buffer.alloc(BODY - 1, " "));
    await this.#openStreams();
  }

  get summary(): string {
    return `${this.#sockets.length} connections, ${this.#streams} streams`;
  }

  leave(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#session?.destroy();
  }

  async #connect(head: string, rest?: Buffer): Promise<void> {
    const socket = await openTls(this.#endpoint, "http/1.1").catch(() => undefined);
    if (!socket) return;
    socket.on("error", () => {}).resume();
    if (head !== "") socket.write(head);
    if (rest) socket.write(rest);
    this.#sockets.push(socket);
  }

  async #openStreams(): Promise<void> {
    const { url, ca } = this.#endpoint;
    const session = connectHttp2(url, { ca, maxSessionMemory: 1000 });
    session.on("error", () => {}).setMaxListeners(0);
    this.#session = session;
    for (let i = 0; i < STREAMS && !session.destroyed; i++) {
      const stream = session.request({ ":method": "POST", ":path": "/healthz" }, { endStream: false });
      stream.on("error", () => {}).resume();
      stream.write("x");
      this.#streams++;
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
