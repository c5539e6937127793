import {
  type Authority,
  type Credential,
  createAuthority,
  type Guard,
  kubeconfigText,
  type Listener,
  listen,
  SERVER_NAMES,
} from "@konverge/apiserver";
import { realClock } from "@konverge/core";

/** Where a cluster is to be reached. */
export interface PortOptions {
  /** Default: any that is free. */
  port?: number;
  /** Default: 127.0.0.1. */
  host?: string;
  /** Signs the server's certificate and those of its clients. Default: a new one. */
  authority?: Authority;
  /** Names the cluster and the context in kubeconfigs. Default: `konverge`. */
  name?: string;
  /** Told of errors that are the server's own fault. */
  onError?(error: unknown, request: { method: string; path: string }): void;
}

/** A cluster's port: HTTPS, with client certificates and tokens, for kubectl and clients of any language. */
export interface ClusterPort extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly authority: Authority;
  /** A kubeconfig for a user. Default: the administrator. */
  kubeconfig(user?: string, groups?: readonly string[]): string;
  credential(user: string, groups?: readonly string[]): Credential;
  close(): Promise<void>;
}

/** Serves a cluster on a port of this machine. */
export async function openPort(guard: Guard, options: PortOptions = {}): Promise<ClusterPort> {
  // Certificates are judged by programs that live in real time, whatever time it is in the cluster.
  const clock = realClock();
  const { host = "127.0.0.1", authority = createAuthority(clock), name = "konverge" } = options;
  const serving = authority.server("kube-apiserver", [...new Set([...SERVER_NAMES, host])]);
  const listener: Listener = await listen(guard, {
    host,
    ...(options.port !== undefined && { port: options.port }),
    tls: { ...serving, clientCa: authority.cert },
    ...(options.onError && { onError: options.onError }),
    clock,
  });
  const { url, port } = listener;
  const close = () => listener.close();
  return {
    url,
    port,
    authority,
    kubeconfig: (user = "kubernetes-admin", groups = ["system:masters"]) =>
      kubeconfigText({ name, url, ca: authority.cert, user, credential: authority.client(user, groups) }),
    credential: (user, groups) => authority.client(user, groups),
    close,
    [Symbol.asyncDispose]: close,
  };
}
