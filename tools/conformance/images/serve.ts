import { once } from "node:events";
import { createServer, request as httpRequest, type IncomingMessage, type RequestListener } from "node:http";
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import type { Process } from "@konverge/cluster";

/** A certificate and its key, in PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
  /** Requests a client certificate of this authority; the handler must check it. */
  readonly clientCa?: string;
}

const origins = new WeakMap<Duplex, string>();

/** Serves HTTP on a port of the pod for as long as the process runs. */
export function serveHttp(process: Process, port: number, answer: RequestListener, certificate?: Certificate): void {
  const server = createServer(answer);
  process.network.listen(port, (connection, from) => {
    const stream = certificate ? secured(connection, certificate) : connection;
    stream.on("error", () => connection.destroy());
    origins.set(stream, `${from}:${40000 + process.clock.random.below(20000)}`);
    server.emit("connection", stream);
  });
}

function secured(connection: Duplex, { cert, key, clientCa }: Certificate): TLSSocket {
  const asked = clientCa ? { ca: clientCa, requestCert: true, rejectUnauthorized: false } : {};
  return new TLSSocket(connection as never, { isServer: true, cert, key, ...asked });
}

/** Who sent a request: `10.244.0.5:41234`. */
export function originOf({ socket }: IncomingMessage): string {
  return origins.get(socket as Duplex) ?? "";
}

/** The parameters of a request, from its address or from a form. */
export async function parametersOf(request: IncomingMessage): Promise<URLSearchParams> {
  const parameters = new URL(request.url ?? "/", "http://pod").searchParams;
  if (request.method !== "POST" || !request.headers["content-type"]?.includes("form-urlencoded")) return parameters;
  for (const [name, value] of new URLSearchParams(await bodyOf(request))) parameters.append(name, value);
  return parameters;
}

export async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

/** Asks another pod. */
export async function fetchText({ network }: Process, host: string, port: number, path: string): Promise<string> {
  const connection = await network.connect(host, port);
  const outgoing = httpRequest({ path, headers: { host, connection: "close" }, createConnection: () => connection });
  const answered = once(outgoing, "response") as Promise<[IncomingMessage]>;
  outgoing.end();
  const [response] = await answered;
  return bodyOf(response);
}

/** Resolves when the process is over. */
export function forEver({ signal }: Process): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
}

/** The flags of a command line: `--name=value`, `--name value`, `--name`. */
export function flagsOf(words: readonly string[]): Map<string, string> {
  const flags = new Map<string, string>();
  for (const [index, word] of words.entries()) {
    if (!word.startsWith("-")) continue;
    const [name = "", ...value] = word.replace(/^-+/, "").split("=");
    const next = words[index + 1];
    if (word.includes("=")) flags.set(name, value.join("="));
    else flags.set(name, next !== undefined && !next.startsWith("--") ? next : "true");
  }
  return flags;
}
