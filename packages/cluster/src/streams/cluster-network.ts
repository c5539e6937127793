import { once } from "node:events";
import { connect as connectSocket } from "node:net";
import type { Duplex } from "node:stream";
import { type Clock, sleep } from "@konverge/core";
import type { Pod, Service, ServicePort } from "@konverge/kinds";
import type { ContainerNetwork } from "../userland/network.ts";
import { type ClusterNames, fullNameOf, hostNameOf } from "./cluster-names.ts";
import type { NetworkPolicies } from "./network-policies.ts";
import type { NodePorts } from "./node-ports.ts";
import type { PodNetwork } from "./pod-network.ts";
import type { Endpoint, ServiceDirectory } from "./service-directory.ts";

/** Where programs in pods reach the API server. */
export interface ApiServerAddress {
  readonly host: string;
  readonly port: number;
  /** The certificate by which they know it, in PEM. */
  readonly ca: string;
}

/** A pod, and where it is. */
export interface PlacedPod {
  readonly pod: Pod;
  readonly place: { readonly podIP: string; readonly hostIP: string };
}

/** The dependencies of a cluster's network. */
export interface NetworkSite {
  readonly clock: Clock;
  readonly pods: PodNetwork;
  readonly directory: ServiceDirectory;
  readonly names: ClusterNames;
  readonly policies: NetworkPolicies;
  readonly nodePorts: NodePorts;
  workers(): Iterable<PlacedPod>;
  apiServer(): ApiServerAddress | undefined;
}

/** How long Linux waits for an answer to a connection, in milliseconds. */
const UNANSWERED = 130_000;

/** How long session affinity lasts after the last connection, in seconds, unless the Service says otherwise. */
const AFFINITY_SECONDS = 10_800;

interface Target {
  readonly placed: PlacedPod;
  readonly port: number;
}

/**
 * Leads connections of containers to pods, Services, node ports and the API server, as kube-proxy and the pod network
 * would. Nothing leaves the process, but for the API server's own port.
 */
export class ClusterNetwork {
  readonly #site: NetworkSite;
  /** The endpoints of clients of Services with session affinity, and when each last connected. */
  readonly #affinity = new Map<string, { readonly ip: string; readonly at: number }>();

  constructor(site: NetworkSite) {
    this.#site = site;
  }

  /** The network from the point of view of a pod. Its listeners close with `released`. */
  of(pod: Pod, podIP: string, released: AbortSignal): ContainerNetwork {
    const { names, pods } = this.#site;
    const uid = pod.metadata.uid ?? "";
    const until = (end: () => void) => {
      released.addEventListener("abort", end, { once: true });
      return end;
    };
    return {
      address: podIP,
      hostName: hostNameOf(pod),
      fullName: fullNameOf(pod),
      lookup: (name, type) => names.lookup(name, type),
      resolve: (name) => names.resolve(pod, podIP, name),
      connect: (host, port) => this.#connect(pod, podIP, host, port),
      ask: async (host, port, data) => {
        const ip = this.#address(pod, podIP, host);
        const target = this.#target(pod, podIP, ip, port, "UDP");
        if (target && !this.#isAllowed(pod, podIP, target, "UDP")) return undefined;
        return target && pods.listeners.ask(target.placed.pod.metadata.uid ?? "", target.port, data, podIP);
      },
      listen: (port, accept) => until(pods.listeners.listen(uid, port, accept)),
      answer: (port, reply) => void until(pods.listeners.answer(uid, port, reply)),
    };
  }

  #address(pod: Pod, podIP: string, host: string): string {
    const found = this.#site.names.resolve(pod, podIP, host);
    if (found.length === 0) throw new Error(`bad address '${host}'`);
    return found[this.#site.clock.random.below(found.length)]!;
  }

  async #connect(pod: Pod, podIP: string, host: string, port: number): Promise<Duplex> {
    const ip = this.#address(pod, podIP, host);
    const { apiServer, nodePorts, pods } = this.#site;
    const address = apiServer();
    if (address && this.#isApiServer(address, ip, port)) return socketTo(address);
    const target = this.#target(pod, podIP, ip, port, "TCP");
    const own = target ? undefined : nodePorts.connect(this.#nodeAddress(pod, ip), port, podIP);
    if (own) return own;
    if (!target) throw new Error(`can't connect to remote host (${ip}): Connection refused`);
    if (!this.#isAllowed(pod, podIP, target, "TCP")) {
      // Packets are dropped: the connection is neither accepted nor refused.
      await sleep(this.#site.clock, UNANSWERED, { background: true, label: `connection of ${pod.metadata.name}` });
      throw new Error(`can't connect to remote host (${ip}): Connection timed out`);
    }
    return pods.dial(target.placed.pod, target.port, podIP);
  }

  /** Resolves a loopback address: for a pod with `hostNetwork`, it is the node. */
  #nodeAddress(pod: Pod, ip: string): string {
    if ((ip !== "127.0.0.1" && ip !== "::1") || !pod.spec?.hostNetwork) return ip;
    return [...this.#site.workers()].find((one) => one.pod.metadata.uid === pod.metadata.uid)?.place.hostIP ?? ip;
  }

  /** Whether NetworkPolicies let a pod connect to another. */
  #isAllowed(pod: Pod, podIP: string, { placed, port }: Target, protocol: string): boolean {
    const now = [...this.#site.workers()].find((one) => one.pod.metadata.uid === pod.metadata.uid)?.pod ?? pod;
    const to = { ip: placed.place.podIP, pod: placed.pod };
    return this.#site.policies.allow({ from: { ip: podIP, pod: now }, to, port, protocol });
  }

  /** The API server is where its Service is, where that leads to, and where it says itself that it is. */
  #isApiServer(address: ApiServerAddress, ip: string, port: number): boolean {
    if (ip === address.host && port === address.port) return true;
    const { directory } = this.#site;
    const service = directory.service("default", "kubernetes");
    if (!service) return false;
    const { clusterIP, ports = [] } = service.spec ?? {};
    if (clusterIP === ip) return ports.some((one) => one.port === port);
    const endpoints = directory.endpoints(service).filter((one) => one.ip === ip);
    return endpoints.some((one) => [...one.ports.values()].some((target) => target.port === port));
  }

  /** The pod and port that an address and port lead to. */
  #target(pod: Pod, podIP: string, ip: string, port: number, protocol: string): Target | undefined {
    const { directory } = this.#site;
    const workers = [...this.#site.workers()];
    const self = workers.find((one) => one.pod.metadata.uid === pod.metadata.uid);
    const ownNode = self?.place.hostIP ?? "";
    if (ip === "127.0.0.1" || ip === "::1") {
      const behind = pod.spec?.hostNetwork
        ? this.#onNode(workers, ownNode, { ip, port, protocol, ownNode })
        : undefined;
      return behind ?? (self && { placed: self, port });
    }
    const service = directory.at(ip, port, protocol);
    if (service) {
      const isLocal = service.service.spec?.internalTrafficPolicy === "Local";
      return this.#behind(workers, service, podIP, isLocal ? self?.place.hostIP : undefined);
    }
    const direct = workers.find(({ place, pod: one }) => place.podIP === ip && !one.spec?.hostNetwork);
    if (direct) return { placed: direct, port };
    return this.#onNode(workers, ip, { ip, port, protocol, ownNode });
  }

  /** The target behind a port of a node: a Service's node port, a pod's host port, or a pod with `hostNetwork`. */
  #onNode(
    workers: readonly PlacedPod[],
    hostIP: string,
    { ip, port, protocol, ownNode }: { ip: string; port: number; protocol: string; ownNode: string },
  ): Target | undefined {
    const service = this.#site.directory.atNodePort(port, protocol);
    if (service) {
      // Traffic that begins on the node itself does not come from outside: kube-proxy leads it to any endpoint.
      const isLocal = service.service.spec?.externalTrafficPolicy === "Local" && hostIP !== ownNode;
      return this.#behind(workers, service, hostIP, isLocal ? hostIP : undefined);
    }
    const onNode = workers.filter(({ place }) => place.hostIP === hostIP);
    for (const placed of onNode) {
      for (const { ports = [] } of placed.pod.spec?.containers ?? []) {
        const found = ports.find(
          (one) =>
            one.hostPort === port &&
            (one.protocol ?? "TCP") === protocol &&
            (!one.hostIP || one.hostIP === "0.0.0.0" || one.hostIP === ip),
        );
        if (found) return { placed, port: found.containerPort };
      }
    }
    const { listeners } = this.#site.pods;
    const isHeard = (uid = "") => (protocol === "UDP" ? listeners.replies(uid, port) : listeners.accepts(uid, port));
    const placed = onNode.find((one) => one.pod.spec?.hostNetwork && isHeard(one.pod.metadata.uid));
    return placed && { placed, port };
  }

  #behind(
    workers: readonly PlacedPod[],
    { service, port }: { service: Service; port: ServicePort },
    client: string,
    /** Only those on this node are asked. */
    onlyNode: string | undefined,
  ): Target | undefined {
    const nodeOf = (ip: string) => workers.find(({ place }) => place.podIP === ip)?.place.hostIP;
    const reachable = (which: "ready" | "terminating") =>
      this.#site.directory.endpoints(service, which).filter(({ ip }) => !onlyNode || nodeOf(ip) === onlyNode);
    const ready = reachable("ready");
    // As long as no other endpoint is ready, those of pods that terminate are better than none.
    const endpoint = this.#choose(service, ready.length > 0 ? ready : reachable("terminating"), client);
    const target = endpoint?.ports.get(port.name ?? "");
    const placed = workers.find(({ place }) => place.podIP === endpoint?.ip);
    return placed && target && { placed, port: target.port };
  }

  #choose(service: Service, endpoints: readonly Endpoint[], client: string): Endpoint | undefined {
    const chosen = endpoints[this.#site.clock.random.below(Math.max(1, endpoints.length))];
    if (service.spec?.sessionAffinity !== "ClientIP") return chosen;
    const key = `${service.metadata.uid} ${client}`;
    const now = this.#site.clock.now();
    const last = this.#affinity.get(key);
    const seconds = service.spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? AFFINITY_SECONDS;
    const isKept = last !== undefined && now - last.at < seconds * 1000;
    const kept = (isKept ? endpoints.find(({ ip }) => ip === last.ip) : undefined) ?? chosen;
    if (kept) this.#affinity.set(key, { ip: kept.ip, at: now });
    return kept;
  }
}

async function socketTo({ host, port }: ApiServerAddress): Promise<Duplex> {
  const socket = connectSocket(port, host);
  await once(socket, "connect");
  return socket;
}
