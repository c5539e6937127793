import type { Service, ServicePort } from "@konverge/kinds";
import type { ServiceSource } from "./service-source.ts";

/** An endpoint of a Service. */
export interface Endpoint {
  readonly ip: string;
  readonly hostname: string | undefined;
  /** By the names of the Service's ports. */
  readonly ports: ReadonlyMap<string, { readonly port: number; readonly protocol: string }>;
}

const SERVICE_NAME = "kubernetes.io/service-name";
/** kube-proxy ignores Services with one of these labels, whatever addresses they have. */
const NOT_PROXIED = ["service.kubernetes.io/headless", "service.kubernetes.io/service-proxy-name"];

/** The Services of a cluster and their endpoints, as kube-proxy and the DNS server know them. */
export class ServiceDirectory {
  readonly #source: ServiceSource;

  constructor(source: ServiceSource) {
    this.#source = source;
  }

  services(): Service[] {
    return this.#source.services();
  }

  /** Those whose addresses lead to their endpoints. */
  #proxied(): Service[] {
    return this.services().filter(({ metadata }) => !NOT_PROXIED.some((label) => label in (metadata.labels ?? {})));
  }

  service(namespace: string, name: string): Service | undefined {
    return this.#source.service(namespace, name);
  }

  /** The ready endpoints, or all with `publishNotReadyAddresses`; otherwise those that still serve while terminating. */
  endpoints({ metadata, spec }: Service, which: "ready" | "terminating" = "ready"): Endpoint[] {
    const found = new Map<string, { ip: string; hostname: string | undefined; ports: Map<string, never> }>();
    for (const slice of this.#source.endpointSlices(metadata.namespace!)) {
      if (slice.metadata.labels?.[SERVICE_NAME] !== metadata.name) continue;
      for (const { addresses, conditions, hostname } of slice.endpoints ?? []) {
        const isReady = conditions?.ready !== false || spec?.publishNotReadyAddresses === true;
        const isServing = conditions?.terminating === true && conditions.serving !== false;
        if (which === "ready" ? !isReady : !isServing) continue;
        for (const ip of addresses) {
          const one = found.get(ip) ?? { ip, hostname, ports: new Map<string, never>() };
          for (const { name = "", port, protocol = "TCP" } of slice.ports ?? [])
            one.ports.set(name, { port: port ?? 0, protocol } as never);
          found.set(ip, one);
        }
      }
    }
    return [...found.values()];
  }

  /** The Service with this cluster, external or load balancer IP, and its port. */
  at(ip: string, port: number, protocol: string): { service: Service; port: ServicePort } | undefined {
    for (const service of this.#proxied()) {
      const { clusterIPs = [], externalIPs = [], ports = [] } = service.spec ?? {};
      const ingress = service.status?.loadBalancer?.ingress?.map((one) => one.ip) ?? [];
      if (![...clusterIPs, ...externalIPs, ...ingress].includes(ip)) continue;
      const found = ports.find((one) => one.port === port && (one.protocol ?? "TCP") === protocol);
      if (found) return { service, port: found };
    }
    return undefined;
  }

  /** The Service with this `healthCheckNodePort`. */
  atHealthCheckPort(port: number): Service | undefined {
    return this.#proxied().find(({ spec }) => spec?.healthCheckNodePort === port);
  }

  /** The Service that answers at a port of every node. */
  atNodePort(nodePort: number, protocol: string): { service: Service; port: ServicePort } | undefined {
    for (const service of this.#proxied()) {
      const found = service.spec?.ports?.find(
        (one) => one.nodePort === nodePort && (one.protocol ?? "TCP") === protocol,
      );
      if (found) return { service, port: found };
    }
    return undefined;
  }
}
