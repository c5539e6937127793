import { Agent, type ClientRequest, type IncomingMessage, request as plainRequest } from "node:http";
import { type ClientHttp2Session, connect } from "node:http2";
import { Agent as SecureAgent, request as secureRequest } from "node:https";
import { type Credential, createAuthority } from "@konverge/certificates";
import { realClock } from "@konverge/core";
import { SERVER_NAMES } from "../src/listener/server-names.ts";

export const clock = realClock(1);
export const authority = createAuthority(clock);
const server = authority.server("kube-apiserver", SERVER_NAMES);
export const tls = { cert: server.cert, key: server.key, clientCa: authority.cert };

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

export interface Asked {
  method?: string;
  path?: string;
  headers?: Record<string, string | string[]>;
  body?: string | Buffer;
  /** Send it in pieces, without saying how long it is. */
  chunked?: boolean;
}

/** An HTTP/1.1 client with its own connections. */
export function http1(url: string, credential?: Credential) {
  const isSecure = url.startsWith("https");
  const agent = isSecure
    ? new SecureAgent({ keepAlive: true, ca: authority.cert, ...credential })
    : new Agent({ keepAlive: true });
  const open = (asked: Asked): ClientRequest => {
    const options = { method: asked.method ?? "GET", agent, headers: asked.headers ?? {} };
    return (isSecure ? secureRequest : plainRequest)(new URL(asked.path ?? "/", url), options);
  };
  return {
    agent,
    /** Resolves with the answer's head; its body is still to be read. */
    begin: (asked: Asked) =>
      new Promise<IncomingMessage>((resolve, reject) => {
        const outgoing = open(asked);
        outgoing.on("response", resolve).on("error", reject);
        if (asked.chunked) outgoing.write("");
        outgoing.end(asked.body);
      }),
    async ask(asked: Asked): Promise<Answer> {
      const incoming = await this.begin(asked);
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
      return { status: incoming.statusCode ?? 0, headers: incoming.headers, body: Buffer.concat(chunks) };
    },
    open,
    close: () => agent.destroy(),
  };
}

/** An HTTP/2 client with one session. */
export function http2(url: string, credential?: Credential) {
  const session: ClientHttp2Session = connect(url, { ca: authority.cert, ...credential });
  session.on("error", () => {});
  const begin = (asked: Asked) => {
    const stream = session.request({
      ":method": asked.method ?? "GET",
      ":path": asked.path ?? "/",
      ...asked.headers,
    });
    stream.end(asked.body);
    return stream;
  };
  return {
    session,
    begin,
    async ask(asked: Asked): Promise<Answer> {
      const stream = begin(asked);
      const headers = await new Promise<Record<string, string | string[] | undefined>>((resolve, reject) => {
        stream.on("response", (head) => resolve(head as Record<string, string>)).on("error", reject);
      });
      const chunks: Buffer[] = [];
      for await (const chunk of stream) chunks.push(chunk as Buffer);
      return { status: Number(headers[":status"]), headers, body: Buffer.concat(chunks) };
    },
    close: () => session.destroy(),
  };
}

/** Lets everything run that can: sockets included. */
export const turn = () => new Promise<void>((resolve) => clock.post(resolve));

/** Waits until something holds; it must come to hold. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await turn();
}
