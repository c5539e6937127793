import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { connect, isIP } from "node:net";
import type { Duplex } from "node:stream";
import type { CallExtension, Credential, ExtensionTarget } from "@konverge/apiserver";
import type { ApiResponse, HeaderMap } from "@konverge/core";
import type { Pod } from "@konverge/kinds";
import { requestOver } from "../streams/pod-http.ts";
import type { PodNetwork } from "../streams/pod-network.ts";

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
      const connection = await dial(pods, target);
      const response = await requestOver(connection, {
        method,
        path,
        headers: { ...sentHeaders(request.headers), host: `${target.host}:${target.port}`, ...lengthOf(body) },
        ...(body !== undefined && { body }),
        ...(signal && { signal }),
        tls: {
          servername: target.serverName,
          rejectUnauthorized: !target.insecureSkipTLSVerify,
          ...(target.caBundle && { ca: Buffer.from(target.caBundle, "base64") }),
          ...identity,
        },
      });
      return answerOf(response);
    } catch (error) {
      if (signal?.aborted) throw new Error("context deadline exceeded", { cause: error });
      throw new Error(inGoWords(error, target), { cause: error });
    }
  };
}

async function dial(pods: ReachablePods, { host, port }: ExtensionTarget): Promise<Duplex> {
  if (isIP(host) !== 0)
    for (const { pod, place } of pods.workers()) if (place.podIP === host) return pods.network.dial(pod, port);
  const socket = connect(port, host);
  await once(socket, "connect");
  return socket;
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

/** What a Go client would say: it ends up in the condition of an APIService. */
function inGoWords(error: unknown, { host, serverName }: ExtensionTarget): string {
  const { code, address, port, message, errors } = error as NodeJS.ErrnoException & {
    address?: string;
    port?: number;
    errors?: Error[];
  };
  // A name with several addresses: what went wrong with the last of them.
  if (errors?.length) return inGoWords(errors.at(-1), { host, serverName } as ExtensionTarget);
  switch (code) {
    case "ECONNREFUSED":
      return `dial tcp ${address?.includes(":") ? `[${address}]` : address}:${port}: connect: connection refused`;
    case "ENOTFOUND":
      return `dial tcp: lookup ${host}: no such host`;
    case "UNABLE_TO_VERIFY_LEAF_SIGNATURE":
    case "SELF_SIGNED_CERT_IN_CHAIN":
    case "DEPTH_ZERO_SELF_SIGNED_CERT":
    case "UNABLE_TO_GET_ISSUER_CERT_LOCALLY":
      return "tls: failed to verify certificate: x509: certificate signed by unknown authority";
    case "ERR_TLS_CERT_ALTNAME_INVALID":
      return `tls: failed to verify certificate: x509: certificate is not valid for ${serverName}`;
    default:
      return message ?? String(error);
  }
}
