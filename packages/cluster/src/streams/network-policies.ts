import { BlockList, isIPv6 } from "node:net";
import type { ApiServer } from "@konverge/apiserver";
import { selectsLabels } from "@konverge/core";
import type { Namespace, NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort, Pod } from "@konverge/kinds";
import { selectorOf } from "../controllers/workloads/selector.ts";
import { namedPort } from "./service-backend.ts";

/** One end of a connection. Without a pod it is a node, the API server, or outside the cluster. */
export interface NetworkEnd {
  readonly ip: string;
  readonly pod?: Pod;
}

/** A connection between two of them. */
export interface Traffic {
  readonly from: NetworkEnd;
  readonly to: NetworkEnd;
  readonly port: number;
  readonly protocol: string;
}

/** Evaluates the NetworkPolicies of a cluster for each connection. It reads them from the store. */
export class NetworkPolicies {
  readonly #store: ApiServer["store"];

  constructor(store: ApiServer["store"]) {
    this.#store = store;
  }

  /** Whether a connection is let through. Pods in the network of their node are no concern of policies. */
  allow(traffic: Traffic): boolean {
    const { from, to } = traffic;
    if (from.pod && from.pod.metadata.uid === to.pod?.metadata.uid) return true;
    return this.#allows(traffic, "Egress", from, to) && this.#allows(traffic, "Ingress", to, from);
  }

  #allows(traffic: Traffic, type: "Ingress" | "Egress", { pod }: NetworkEnd, peer: NetworkEnd): boolean {
    if (!pod || pod.spec?.hostNetwork) return true;
    // A node always reaches its pods, regardless of policies: probes come from there.
    if (type === "Ingress" && peer.pod?.spec?.hostNetwork && peer.pod.spec.nodeName === pod.spec?.nodeName) return true;
    const policies = this.#policiesFor(pod).filter(({ spec }) => (spec?.policyTypes ?? ["Ingress"]).includes(type));
    if (policies.length === 0) return true;
    return policies.some((policy) => {
      const rules =
        type === "Ingress"
          ? policy.spec?.ingress?.map(({ from = [], ports = [] }) => ({ peers: from, ports }))
          : policy.spec?.egress?.map(({ to = [], ports = [] }) => ({ peers: to, ports }));
      return rules?.some(
        ({ peers, ports }) =>
          (peers.length === 0 || peers.some((one) => this.#isPeer(one, policy, peer))) &&
          (ports.length === 0 || ports.some((one) => isPort(one, traffic))),
      );
    });
  }

  #policiesFor({ metadata }: Pod): NetworkPolicy[] {
    const stored = this.#store.collection("networking.k8s.io/networkpolicies").scan(`${metadata.namespace}/`);
    return Array.from(stored, ({ text }) => JSON.parse(text) as NetworkPolicy).filter(({ spec }) =>
      selectsLabels(selectorOf(spec?.podSelector ?? {}), metadata.labels),
    );
  }

  #isPeer(peer: NetworkPolicyPeer, { metadata }: NetworkPolicy, { ip, pod }: NetworkEnd): boolean {
    const { ipBlock, namespaceSelector, podSelector } = peer;
    if (ipBlock) return isIn(ipBlock.cidr, ip) && !ipBlock.except?.some((one) => isIn(one, ip));
    if (!pod || pod.spec?.hostNetwork) return false;
    const { namespace = "", labels } = pod.metadata;
    const isThere = namespaceSelector
      ? selectsLabels(selectorOf(namespaceSelector), this.#labelsOf(namespace))
      : namespace === metadata.namespace;
    return isThere && (!podSelector || selectsLabels(selectorOf(podSelector), labels));
  }

  #labelsOf(namespace: string): Record<string, string> {
    const entry = this.#store.collection("/namespaces").get(namespace);
    return entry ? ((JSON.parse(entry.text) as Namespace).metadata.labels ?? {}) : {};
  }
}

function isPort({ port, endPort, protocol = "TCP" }: NetworkPolicyPort, traffic: Traffic): boolean {
  if (protocol !== traffic.protocol) return false;
  if (port === undefined) return true;
  if (typeof port === "string") return traffic.to.pod !== undefined && namedPort(traffic.to.pod, port) === traffic.port;
  return traffic.port >= port && traffic.port <= (endPort ?? port);
}

function isIn(cidr: string, ip: string): boolean {
  const [network = "", length = ""] = cidr.split("/");
  const family = isIPv6(network) ? "ipv6" : "ipv4";
  const block = new BlockList();
  block.addSubnet(network, Number(length), family);
  return block.check(ip, isIPv6(ip) ? "ipv6" : "ipv4");
}
