import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import type { CallExtension, Credential, ExtensionTarget } from "@konverge/apiserver";
import type { ApiResponse, HeaderMap } from "@konverge/core";
import type { Pod } from "@konverge/kinds";
import { dial, inGoWords } from "../streams/dial.ts";
import { requestOver } from "../streams/pod-http.ts";
import type { PodNetwork } from "../streams/pod-network.ts";
import { rootsIn, secured } from "./server-tls.ts";

/** The pods of a cluster, and how to reach them. */
export interface ReachablePods {
  readonly network: PodNetwork;
  workers(): Iterable<{ readonly pod: Pod; readonly place: { readonly podIP: string } }>;
}

/**
 * Reaches other API servers: those in pods of this cluster through the pods, all others over the machine's network. They
 * know this server by its client certificate, if it has one.
 */
export function extensionCaller(pods: ReachablePods, identity?: Credential): CallExtension {
  return async (target, request) => {
    const { method, path, body, signal } = request;
    try {
      const roots = target.insecureSkipTLSVerify ? "any" : rootsIn(target.caBundle);
      const connection = await connectionTo(pods, target, signal);
      const server = { host: target.serverName, roots, ...(identity && { credential: identity }) };
      const response = await requestOver(await secured(connection, server, signal), {
        method,
        path,
        headers: { ...sentHeaders(request.headers), host: `${target.host}:${target.port}`, ...lengthOf(body) },
        ...(body !== undefined && { body }),
        ...(signal && { signal }),
      });
      return answerOf(response);
    } catch (error) {
      if (signal?.aborted) throw new Error("context deadline exceeded", { cause: error });
      throw new Error(inGoWords(error, target.host), { cause: error });
    }
  };
}

async function connectionTo(
  pods: ReachablePods,
  { host, port }: ExtensionTarget,
  signal: AbortSignal | undefined,
): Promise<Duplex> {
  if (isIP(host) !== 0)
    for (const { pod, place } of pods.workers()) if (place.podIP === host) return pods.network.dial(pod, port);
  return dial(host, port, signal);
}

function sentHeaders(headers: HeaderMap): Record<string, string | readonly string[]> {
  const sent: Record<string, string | readonly string[]> = {};
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) sent[name] = value;
  return sent;
}

function lengthOf(body: string | Uint8Array | undefined): Record<string, string> {
  return body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
}

/** Headers about the connection, which ends here. */
const OF_THE_CONNECTION = new Set(["connection", "keep-alive", "transfer-encoding"]);

function answerOf(response: IncomingMessage): ApiResponse {
  const headers = Object.fromEntries(Object.entries(response.headers).filter(([name]) => !OF_THE_CONNECTION.has(name)));
  return { status: response.statusCode ?? 502, headers, body: response as AsyncIterable<Uint8Array> };
}
