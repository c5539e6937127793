import type { Client } from "@konverge/client";
import { EndpointSlice, Service } from "@konverge/kinds";
import { ClusterNames } from "../../streams/cluster-names.ts";
import { ServiceDirectory } from "../../streams/service-directory.ts";
import type { ServiceSource } from "../../streams/service-source.ts";
import { DnsServer } from "./dns-server.ts";

const METADATA = { name: "kube-dns", namespace: "kube-system" };
/** The cluster DNS address that kubelets configure in pods. */
const CLUSTER_IP = "10.96.0.10";
const APPLIED = { fieldManager: "konverge", force: true };
const PORTS = [
  { name: "dns", protocol: "UDP" as const },
  { name: "dns-tcp", protocol: "TCP" as const },
];

/** Where a name server listens, and the address under which pods reach it. */
export interface DnsAddress {
  readonly listen: string;
  readonly ip: string;
}

/** Serves the names of a cluster at an address of this machine, under which pods of real nodes reach it. */
export async function serveDns(services: ServiceSource, client: Client, address: DnsAddress): Promise<DnsServer> {
  const server = await DnsServer.listen(address.listen, new ClusterNames(new ServiceDirectory(services)));
  try {
    await publishDns(client, { ip: address.ip, port: server.port });
  } catch (error) {
    await server.close();
    throw error;
  }
  return server;
}

/** Leads the Service that pods ask for names to a name server that is no pod. */
async function publishDns(client: Client, address: { readonly ip: string; readonly port: number }): Promise<void> {
  const labels = { "k8s-app": "kube-dns", "kubernetes.io/cluster-service": "true" };
  const ports = PORTS.map((one) => ({ ...one, port: 53, targetPort: address.port }));
  await client.apply(Service, { metadata: { ...METADATA, labels }, spec: { clusterIP: CLUSTER_IP, ports } }, APPLIED);
  await client.apply(
    EndpointSlice,
    {
      metadata: {
        ...METADATA,
        labels: {
          "kubernetes.io/service-name": METADATA.name,
          "endpointslice.kubernetes.io/managed-by": "konverge",
        },
      },
      addressType: address.ip.includes(":") ? "IPv6" : "IPv4",
      endpoints: [{ addresses: [address.ip], conditions: { ready: true } }],
      ports: PORTS.map((one) => ({ ...one, port: address.port })),
    },
    APPLIED,
  );
}
