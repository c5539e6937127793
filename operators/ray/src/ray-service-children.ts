import { Service, type ServicePort } from "konverge/kinds";
import { truncatedName } from "konverge/objects";
import { CLUSTER, headPorts, headServiceFor, headServiceName, NODE_TYPE, SERVE, servePort } from "./ray-children.ts";
import type { RayCluster } from "./ray-cluster.ts";
import { originLabels } from "./ray-origin.ts";
import type { RayService } from "./ray-service.ts";

/** The name of the Service that clients use. */
export function serveServiceName({ metadata, spec }: RayService): string {
  return spec.serveService?.metadata?.name || truncatedName(metadata.name, "serve-svc");
}

/** The Services of a service, which select pods of this cluster: changing them moves the traffic. */
export function servicesFor(service: RayService, cluster: RayCluster) {
  return [headServiceOf(service, cluster), serveServiceFor(service, cluster)];
}

function headServiceOf(service: RayService, cluster: RayCluster) {
  const labels = { ...originLabels("RayService", service.metadata.name), [NODE_TYPE]: "head" };
  const { spec } = headServiceFor(cluster);
  return Service.draft({
    metadata: { name: headServiceName(service), namespace: service.metadata.namespace!, labels },
    spec: spec!,
  });
}

function serveServiceFor(service: RayService, cluster: RayCluster) {
  const { serveService: given, rayClusterConfig } = service.spec;
  const { namespace, name } = service.metadata;
  const { annotations } = given?.metadata ?? {};
  return Service.draft({
    metadata: {
      name: serveServiceName(service),
      namespace: namespace!,
      labels: {
        ...given?.metadata?.labels,
        ...originLabels("RayService", name),
        [SERVE]: truncatedName(`${name}-serve`),
      },
      ...(annotations && { annotations }),
    },
    spec: {
      type: rayClusterConfig.headGroupSpec.serviceType ?? "ClusterIP",
      ...given?.spec,
      selector: { [CLUSTER]: cluster.metadata.name, [SERVE]: "true" },
      ports: servePorts(cluster, given?.spec?.ports ?? []),
    },
  });
}

/** The head's ports that are called `serve` or begin with `serve-`, with what the user says of those. */
function servePorts(cluster: RayCluster, given: readonly ServicePort[]): ServicePort[] {
  const named = Object.entries(headPorts(cluster)).filter(([name]) => name === "serve" || name.startsWith("serve-"));
  return (named.length > 0 ? named : [["serve", servePort(cluster)] as const])
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, port]) => given.find((one) => one.name === name) ?? { name, port, targetPort: port, protocol: "TCP" });
}
