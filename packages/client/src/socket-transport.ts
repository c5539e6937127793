import { type ApiRequest, type ApiResponse, type Clock, readText, type Transport } from "@konverge/core";
import type { ConnectionConfig } from "./config/connection-config.ts";
import { createCredentialSource } from "./credentials/create-source.ts";
import type { Credential, CredentialSource } from "./credentials/credential-source.ts";
import { ConnectionPool } from "./transport/connection-pool.ts";
import { exchange } from "./transport/exchange.ts";
import { proxyFor } from "./transport/proxy.ts";
import { type TlsMaterial, tlsMaterial } from "./transport/tls-material.ts";

/** A transport that talks to a server over the network. */
export interface SocketTransport {
  transport: Transport;
  /** Closes all connections; requests in progress fail. */
  close(): Promise<void>;
}

/**
 * Requests over kept-alive connections, with credentials that are renewed when they expire or the server refuses them.
 * A request that was refused for its credentials was not carried out, so it is sent again with new ones, once.
 */
export function socketTransport(config: ConnectionConfig, options: { clock: Clock }): SocketTransport {
  const { clock } = options;
  const server = new URL(config.server);
  const prefix = server.pathname.replace(/\/$/, "");
  const proxy = proxyFor(server, config.proxyUrl, process.env);
  const material = tlsMaterial(clock, config);
  const credentials = createCredentialSource(clock, config);
  const pool = new ConnectionPool(server, { proxy, http2: config.http2 ?? false });

  const send = async (request: ApiRequest, credential: Credential): Promise<ApiResponse> => {
    const tls = withCertificate(await material(), credential);
    const sent: ApiRequest = {
      ...request,
      path: prefix + request.path,
      headers: {
        ...request.headers,
        ...(credential.authorization && { authorization: credential.authorization }),
        ...(config.compression && { "accept-encoding": "gzip" }),
      },
    };
    if (request.upgrade) {
      const { openWebSocket } = await import("./transport/websocket.ts");
      return openWebSocket(server, sent, tls, proxy);
    }
    const response = await exchange(pool.with(tls), server.origin, sent, () => pool.suspect());
    // What the caller itself asked for compressed, it gets as it is: it may pass it on.
    if (!config.compression || response.headers["content-encoding"] !== "gzip") return response;
    const { gunzip } = await import("./transport/gunzip.ts");
    const { "content-encoding": _coding, "content-length": _length, ...headers } = response.headers;
    return { ...response, headers, body: gunzip(response.body) };
  };

  const transport: Transport = async (request) => {
    const credential = await credentials.get();
    const response = await send(request, credential);
    if (response.status !== 401) return response;
    const body = await readText(response.body);
    const renewed = await renew(credentials, credential);
    return renewed ? send(request, renewed) : { ...response, body };
  };
  return { transport, close: () => pool.close() };
}

/** Failing to get new credentials is no better an answer than the server's own refusal. */
async function renew(credentials: CredentialSource, rejected: Credential): Promise<Credential | undefined> {
  return credentials.renew(rejected).catch(() => undefined);
}

function withCertificate(tls: TlsMaterial, { cert, key }: Credential): TlsMaterial {
  return cert && key ? { ...tls, cert, key } : tls;
}
