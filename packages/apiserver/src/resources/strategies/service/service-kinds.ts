import type { Service } from "../../../codec/objects.ts";

/** Services that have a cluster IP, or ask for none. */
export function needsAddress({ spec }: Service): boolean {
  return spec?.type !== "ExternalName";
}

/** Services without a common address: names resolve to their pods. */
export function isHeadless({ spec }: Service): boolean {
  return spec?.clusterIPs?.length === 1 && spec.clusterIPs[0] === "None";
}

/** Services that are reachable at a port of each node. */
export function needsNodePorts({ spec }: Service): boolean {
  if (spec?.type === "NodePort") return true;
  return spec?.type === "LoadBalancer" && spec.allocateLoadBalancerNodePorts !== false;
}

/** Services whose load balancer asks nodes whether they have one of their pods. */
export function needsHealthCheck({ spec }: Service): boolean {
  return spec?.type === "LoadBalancer" && spec.externalTrafficPolicy === "Local";
}

/** Services that clients outside the cluster can reach. */
export function isExternal({ spec }: Service): boolean {
  const { type, externalIPs = [] } = spec ?? {};
  return type === "LoadBalancer" || type === "NodePort" || (type === "ClusterIP" && externalIPs.length > 0);
}
