import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
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

/** Where a cluster listens. */
export interface PortOptions {
  /** Default: a free port. */
  port?: number;
  /** Default: 127.0.0.1. */
  host?: string;
  /**
   * The address at which nodes and pods of other machines reach it. Default: the host, or if that is all addresses of this
   * machine, the first of them that others can reach; none if only this machine can.
   */
  advertise?: string;
  /** Answer DNS queries of real pods at the same address, behind the Service kube-dns. Default: no. */
  dns?: boolean;
  /** Signs the server's certificate and those of its clients. Default: a new one. */
  authority?: Authority;
  /** Names the cluster and the context in kubeconfigs. Default: `konverge`. */
  name?: string;
  /** Called with errors of the server itself. */
  onError?(error: unknown, request: { method: string; path: string }): void;
}

/** Where others than this machine reach a port. */
export interface AdvertisedPort {
  readonly ip: string;
  readonly port: number;
  readonly url: string;
}

/** A cluster's port: HTTPS, with client certificates and tokens, for kubectl and clients of any language. */
export interface ClusterPort extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Where nodes and pods reach it. */
  readonly advertised: AdvertisedPort | undefined;
  readonly authority: Authority;
  /** A kubeconfig for a user. Default: the administrator. */
  kubeconfig(user?: string, groups?: readonly string[]): string;
  credential(user: string, groups?: readonly string[]): Credential;
  close(): Promise<void>;
}

/** Serves a cluster on a port of this machine. */
export async function openPort(guard: Guard, options: PortOptions = {}): Promise<ClusterPort> {
  // Certificates are verified by programs that run in real time, even if the cluster's clock is virtual.
  const clock = realClock();
  const { host = "127.0.0.1", authority = createAuthority(clock), name = "konverge" } = options;
  const ip = options.advertise ?? reachableAddress(host);
  const serving = authority.server("kube-apiserver", [...new Set([...SERVER_NAMES, host, ...(ip ? [ip] : [])])]);
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
    advertised:
      ip === undefined ? undefined : { ip, port, url: `https://${ip.includes(":") ? `[${ip}]` : ip}:${port}` },
    authority,
    kubeconfig: (user = "kubernetes-admin", groups = ["system:masters"]) => {
      // RSA, as kubeadm makes it: the usual client for Java (fabric8) reads no other keys without one more library.
      const credential = authority.client(user, groups, "rsa");
      return kubeconfigText({ name, url, ca: authority.cert, user, credential });
    },
    credential: (user, groups) => authority.client(user, groups),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The address that a host stands for on other machines, if it does. */
function reachableAddress(host: string): string | undefined {
  if (host === "0.0.0.0" || host === "::") {
    const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
    return addresses.find(({ internal, family }) => !internal && family === "IPv4")?.address;
  }
  return isIP(host) === 0 || host === "::1" || host.startsWith("127.") ? undefined : host;
}
