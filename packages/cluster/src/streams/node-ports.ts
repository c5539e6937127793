import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Duplex } from "node:stream";
import { createAuthority } from "@konverge/certificates";
import type { Clock } from "@konverge/core";
import type { Service } from "@konverge/kinds";
import { connectionTo } from "./listeners.ts";
import type { ServiceDirectory } from "./service-directory.ts";

/** The dependencies of {@link NodePorts}. */
export interface NodePortsSite {
  readonly clock: Clock;
  readonly directory: ServiceDirectory;
  /** The simulated node at an address. */
  nodeAt(ip: string): string | undefined;
  /** The addresses of pods on a node. */
  podAddresses(hostIP: string): ReadonlySet<string>;
  readonly kubelet: { readonly port: number; of(node: string): RequestListener };
}

/** Anything that takes a connection. */
interface Accepting {
  emit(event: "connection", connection: Duplex): boolean;
}

/**
 * What simulated nodes themselves listen on: the kubelet's API, and the health checks of kube-proxy, by which a load balancer
 * learns which nodes have endpoints of a Service with `externalTrafficPolicy: Local`.
 */
export class NodePorts {
  readonly #site: NodePortsSite;
  readonly #kubelets = new Map<string, Accepting>();

  constructor(site: NodePortsSite) {
    this.#site = site;
  }

  /** A connection to a port of the node at an address; undefined when the node itself does not listen there. */
  connect(hostIP: string, port: number, from: string): Duplex | undefined {
    const node = this.#site.nodeAt(hostIP);
    if (node === undefined) return undefined;
    const server = port === this.#site.kubelet.port ? this.#kubelet(node, hostIP) : this.#healthCheck(hostIP, port);
    return server && connectionTo((connection) => server.emit("connection", connection), from);
  }

  #kubelet(node: string, hostIP: string): Accepting {
    const { clock, kubelet } = this.#site;
    // Like a kubelet without a serving certificate of the cluster: it signs one itself.
    const server =
      this.#kubelets.get(node) ??
      createTlsServer(createAuthority(clock, { name: `${node}-ca` }).server(node, [node, hostIP]), kubelet.of(node));
    this.#kubelets.set(node, server);
    return server;
  }

  #healthCheck(hostIP: string, port: number): Accepting | undefined {
    const service = this.#site.directory.atHealthCheckPort(port);
    return service && createServer(this.#health(service, hostIP));
  }

  #health(service: Service, hostIP: string): RequestListener {
    return (_, response) => {
      const { directory, podAddresses } = this.#site;
      const local = podAddresses(hostIP);
      const localEndpoints = directory.endpoints(service).filter(({ ip }) => local.has(ip)).length;
      const { namespace, name } = service.metadata;
      response.writeHead(localEndpoints > 0 ? 200 : 503, {
        "content-type": "application/json",
        "x-content-type-options": "nosniff",
        "x-load-balancing-endpoint-weight": String(localEndpoints),
      });
      const report = { service: { namespace, name }, localEndpoints, serviceProxyHealthy: true };
      response.end(`${JSON.stringify(report, undefined, "\t")}\n`);
    };
  }
}
