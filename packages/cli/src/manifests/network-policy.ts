import type { NetworkPolicy } from "@konverge/kinds";
import type { Operator } from "@konverge/runtime";

/** What the policy depends on. */
export interface NetworkPolicyOptions {
  readonly labels: Record<string, string>;
  readonly webhooks: boolean;
  /** The namespaces of the operator's Roles. Default: all. */
  readonly namespaced: readonly string[] | undefined;
}

/** Where API servers listen, seen from a pod: its Service, and the endpoints behind it. */
const API_SERVER_PORTS = [443, 6443];
const DNS_PORT = 53;

/**
 * What may reach an operator, and what it may reach: name servers, the API server, and pods if it connects to them. No selector
 * matches the API server, so its ports are open to any address.
 */
export function networkPolicyOf(
  { connectsToPods = false }: Pick<Operator, "connectsToPods">,
  metadata: { name: string; namespace: string },
  { labels, webhooks, namespaced }: NetworkPolicyOptions,
): NetworkPolicy {
  const tcp = (port: number | string) => ({ protocol: "TCP" as const, port });
  const ports = ["metrics", "probes", ...(webhooks ? ["webhooks"] : [])];
  const within = namespaced && {
    matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "In", values: [...namespaced] }],
  };
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { ...metadata, labels },
    spec: {
      podSelector: { matchLabels: { app: metadata.name } },
      policyTypes: ["Ingress", "Egress"],
      ingress: [{ ports: ports.map(tcp) }],
      egress: [
        { ports: [{ protocol: "UDP", port: DNS_PORT }, tcp(DNS_PORT)] },
        { ports: API_SERVER_PORTS.map(tcp) },
        ...(connectsToPods ? [{ to: [{ namespaceSelector: within ?? {} }] }] : []),
      ],
    },
  };
}
