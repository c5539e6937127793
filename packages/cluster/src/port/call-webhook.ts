import type { IncomingMessage } from "node:http";
import { posix } from "node:path";
import type { Duplex } from "node:stream";
import { domainToASCII } from "node:url";
import { type CallWebhook, WebhookClientError } from "@konverge/apiserver";
import { parseUrl } from "@konverge/core";
import { dial, inGoWords } from "../streams/dial.ts";
import { requestOver } from "../streams/pod-http.ts";
import type { PodNetwork } from "../streams/pod-network.ts";
import { type Backend, NoBackendError, type ServiceBackends } from "../streams/service-backend.ts";
import { type Roots, rootsIn, secured } from "./server-tls.ts";

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
    const place = placeOf(target);
    const roots = rootsOf(target);
    const path = `${place.path}?timeout=${timeoutMs / 1000}s`;
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const connection = target.url
        ? await dial(place.host, place.port, signal)
        : await dialService(place, target.service, inside?.());
      const stream = place.isPlain ? connection : await secured(connection, { host: place.host, roots }, signal);
      const body = JSON.stringify(review);
      const headers = {
        host: place.authority,
        "content-type": "application/json",
        "content-length": String(Buffer.byteLength(body)),
      };
      return await answerOf(await requestOver(stream, { method: "POST", path, headers, body, signal }));
    } catch (error) {
      const why = signal.aborted ? "context deadline exceeded" : inGoWords(error, place.host);
      throw new Error(`Post "${place.base}${path}": ${why}`, { cause: error });
    }
  };
}

/** Where a webhook is, as a URL's parts. */
interface Place {
  /** Scheme, host and port, as they are written. */
  readonly base: string;
  /** Host and port, as they are written. */
  readonly authority: string;
  readonly host: string;
  readonly port: number;
  readonly path: string;
  /** Without TLS. */
  readonly isPlain: boolean;
}

function placeOf({ url, service }: Target): Place {
  if (!url) {
    const { name = "", namespace = "", path = "", port = 443 } = service ?? {};
    const host = `${name}.${namespace}.svc`;
    const authority = `${host}:${port}`;
    return { base: `https://${authority}`, authority, host, port, path: cleaned(path), isPlain: false };
  }
  const { scheme, host: authority, hostname, port, escapedPath } = parseUrl(url);
  const isPlain = scheme === "http";
  // Case is kept, as messages show it.
  const host = /[^!-~]/.test(hostname) ? domainToASCII(hostname) : hostname;
  const number = Number(port || (isPlain ? 80 : 443));
  return { base: `${scheme}://${authority}`, authority, host, port: number, path: cleaned(escapedPath), isPlain };
}

/** As Go joins paths: without repeated slashes, or one at the end. */
function cleaned(path: string): string {
  return posix.join("/", path).replace(/(.)\/$/, "$1");
}

function rootsOf({ caBundle }: Target): Roots {
  try {
    return rootsIn(caBundle);
  } catch (error) {
    throw new WebhookClientError((error as Error).message, { cause: error });
  }
}

async function dialService(
  { port }: Place,
  { name = "", namespace = "" }: Partial<NonNullable<Target["service"]>> = {},
  inside: InsideCluster | undefined,
): Promise<Duplex> {
  if (!inside) throw new Error(`service ${JSON.stringify(name)} not found: this server has no pods behind Services`);
  const backend = backendFor(inside, namespace, name, port);
  return await inside.network.dial(backend.pod, backend.port);
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
