import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { CallWebhook } from "@konverge/apiserver";
import { requestOver } from "../streams/pod-http.ts";
import type { PodNetwork } from "../streams/pod-network.ts";
import { type Backend, NoBackendError, type ServiceBackends } from "../streams/service-backend.ts";

/** Answers that are longer are no reviews. */
const LARGEST = 8 * 1024 * 1024;

type Target = Parameters<CallWebhook>[0];

/** How webhooks behind Services are reached. */
export interface InsideCluster {
  readonly network: PodNetwork;
  readonly backends: ServiceBackends;
}

/** Reaches webhooks at their URLs, over real sockets. Those behind a Service cannot be reached without a cluster. */
export const callWebhook: CallWebhook = webhookCaller(undefined);

/** Reaches webhooks at their URLs, over real sockets, and those behind a Service in the pods that run as programs. */
export function webhookCaller(inside: (() => InsideCluster) | undefined): CallWebhook {
  return async (target, review, { timeoutMs }) => {
    const body = JSON.stringify(review);
    const signal = AbortSignal.timeout(timeoutMs);
    const url = urlOf(target);
    try {
      const response = target.url
        ? await outside(target, body, signal)
        : await behindService(target, body, signal, inside?.());
      return await answerOf(response);
    } catch (error) {
      if (signal.aborted) throw new Error(`Post "${url}?timeout=${timeoutMs / 1000}s": context deadline exceeded`);
      const why = inGoWords(error);
      throw new Error(`Post "${url}?timeout=${timeoutMs / 1000}s": ${why}`, { cause: error });
    }
  };
}

/** A refused connection, as every operator's user knows it. */
function inGoWords(error: unknown): string {
  const { code, address, port, message } = error as NodeJS.ErrnoException & { address?: string; port?: number };
  if (code === "ECONNREFUSED" && address) return `dial tcp ${address}:${port}: connect: connection refused`;
  return message ?? String(error);
}

function urlOf({ url, service }: Target): string {
  if (url) return url;
  const { name = "", namespace = "", path = "", port = 443 } = service ?? {};
  return `https://${name}.${namespace}.svc:${port}${path}`;
}

function headersOf(body: string): Record<string, string> {
  return { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) };
}

async function outside({ url = "", caBundle }: Target, body: string, signal: AbortSignal): Promise<IncomingMessage> {
  const send = url.startsWith("http:") ? httpRequest : httpsRequest;
  const outgoing = send(url, {
    method: "POST",
    headers: headersOf(body),
    ...(caBundle && { ca: Buffer.from(caBundle, "base64") }),
    signal,
    agent: false,
  });
  const answered = once(outgoing, "response") as Promise<[IncomingMessage]>;
  outgoing.end(body);
  const [response] = await answered;
  return response;
}

async function behindService(
  { service, caBundle }: Target,
  body: string,
  signal: AbortSignal,
  inside: InsideCluster | undefined,
): Promise<IncomingMessage> {
  const { name = "", namespace = "", path = "/", port = 443 } = service ?? {};
  if (!inside) throw new Error(`service ${JSON.stringify(name)} not found: this server has no pods behind Services`);
  const backend = backendFor(inside, namespace, name, port);
  const connection = await inside.network.dial(backend.pod, backend.port);
  return requestOver(connection, {
    method: "POST",
    path,
    headers: { ...headersOf(body), host: `${name}.${namespace}.svc` },
    body,
    tls: { servername: `${name}.${namespace}.svc`, ...(caBundle && { ca: Buffer.from(caBundle, "base64") }) },
    signal,
  });
}

/** Nothing forwards to a Service without ready pods. */
function backendFor({ backends }: InsideCluster, namespace: string, name: string, port: number): Backend {
  try {
    return backends.find(namespace, name, String(port));
  } catch (error) {
    if (!(error instanceof NoBackendError) || error.isMissing) throw error;
    throw new Error(`dial tcp: ${error.message}: connect: connection refused`);
  }
}

async function answerOf(response: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > LARGEST) throw new Error("the webhook's answer is too long");
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString("utf8");
  if (response.statusCode !== 200) throw new Error(`the server answered ${response.statusCode}: ${text}`);
  return JSON.parse(text);
}
