import type { ApiServer, Authority, Entry } from "@konverge/apiserver";
import type { SocketTransport, socketTransport } from "@konverge/client/socket";
import { type ApiError, type ApiRequest, type ApiResponse, badRequest, parseJson, realClock } from "@konverge/core";
import type { Node } from "@konverge/kinds";
import { KUBELET_CLIENT } from "../controllers/node-bootstrap/join-objects.ts";
import { isSimulated } from "../parts/simulated-node.ts";
import { inGoWords } from "../streams/dial.ts";
import { type KubeletAddress, openTunnel } from "./kubelet-tunnel.ts";

/** Kinds of addresses, as kubeadm has API servers prefer them. */
const PREFERRED = ["InternalIP", "ExternalIP", "Hostname"];
const KUBELET_PORT = 10250;

/** What a client of kubelets needs of its cluster. */
export interface KubeletClientOptions {
  readonly store: () => ApiServer["store"];
  /** Signs the certificate by which kubelets know the server. */
  readonly authority: () => Authority;
}

/** Words the error that a client gets: why a kubelet could not be reached, and what was asked of it. */
export type Unreachable = (why: string, url: string) => ApiError;

/**
 * Asks the kubelets of real nodes, as kube-apiserver does: at the address that the Node reports, with a client certificate.
 * The kubelet's own certificate is not verified, since most sign it themselves.
 */
export class KubeletClient {
  readonly #options: KubeletClientOptions;
  readonly #transports = new Map<string, SocketTransport>();
  /** Entries never change: each is read once. There may be thousands of simulated nodes. */
  readonly #read = new WeakMap<Entry, Node | "simulated">();
  #authority: Authority | undefined;

  constructor(options: KubeletClientOptions) {
    this.#options = options;
  }

  /** The Node, if a real kubelet reports it. */
  node(name: string): Node | undefined {
    const entry = this.#options.store().collection("/nodes").get(name);
    return entry && this.#realNode(entry);
  }

  /** All Nodes that real kubelets report. */
  nodes(): Node[] {
    return [...this.#options.store().collection("/nodes").scan("")].flatMap((entry) => this.#realNode(entry) ?? []);
  }

  #realNode(entry: Entry): Node | undefined {
    let known = this.#read.get(entry);
    if (known === undefined) {
      const node = parseJson(entry.text) as Node;
      known = isSimulated(node) ? "simulated" : node;
      this.#read.set(entry, known);
    }
    return known === "simulated" ? undefined : known;
  }

  /** The answer to a request. Where the kubelet cannot be reached, it throws what `unreachable` makes of that. */
  async send(node: Node, request: ApiRequest, unreachable: Unreachable): Promise<ApiResponse> {
    const { host, port } = addressOf(node);
    const server = `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
    try {
      if (request.tunnel) {
        const tunneled = { ...request, tunnel: request.tunnel };
        return await openTunnel({ host, port }, tunneled, this.#options.authority().client(KUBELET_CLIENT));
      }
      // Few clusters have real nodes.
      const { socketTransport } = await import("@konverge/client/socket");
      const { headers, ...rest } = await this.#transport(server, socketTransport).transport(request);
      const { connection: _connection, "transfer-encoding": _coding, "keep-alive": _alive, ...kept } = headers;
      return { ...rest, headers: kept };
    } catch (error) {
      const why = inGoWords(error instanceof Error && error.cause ? error.cause : error, host);
      throw unreachable(why, `${server}${request.path}`);
    }
  }

  async close(): Promise<void> {
    const open = [...this.#transports.values()];
    this.#transports.clear();
    await Promise.all(open.map((one) => one.close()));
  }

  #transport(server: string, open: typeof socketTransport): SocketTransport {
    const authority = this.#options.authority();
    // The port that was opened last decides whose certificates count.
    if (authority !== this.#authority) void this.close();
    this.#authority = authority;
    let known = this.#transports.get(server);
    if (!known) {
      const { cert, key } = authority.client(KUBELET_CLIENT);
      const identity = { cert: { value: cert }, key: { value: key } };
      const config = { server, insecureSkipTlsVerify: true, proxyUrl: "", ...identity };
      known = open(config, { clock: realClock() });
      this.#transports.set(server, known);
    }
    return known;
  }
}

/** Where the kubelet of a node says that it is. */
export function addressOf({ metadata, status }: Node): KubeletAddress {
  const addresses = status?.addresses ?? [];
  const host = PREFERRED.map((type) => addresses.find((one) => one.type === type)?.address).find((one) => one);
  if (!host) throw badRequest(`no preferred addresses found; known addresses: [] for node ${metadata.name}`);
  return { host, port: status?.daemonEndpoints?.kubeletEndpoint?.Port || KUBELET_PORT };
}
