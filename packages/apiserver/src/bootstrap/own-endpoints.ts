import { type Clock, deepEqual } from "@konverge/core";
import { putSystemObject, type SystemObject } from "../aggregation/system-objects.ts";
import type { WorkingObject } from "../codec/working-object.ts";
import type { Registry } from "../resources/registry.ts";
import type { Store } from "../storage/store.ts";
import { objectOf } from "../verbs/call.ts";

/** Where a server says that it is, to those inside the cluster. */
export interface AdvertisedAddress {
  readonly ip: string;
  readonly port: number;
}

const NAME = "kubernetes";
const NAMESPACE = "default";

/** Says in the cluster where its API server is: the Endpoints and the EndpointSlice behind the Service `kubernetes`. */
export function publishOwnEndpoints(store: Store, registry: Registry, clock: Clock, address: AdvertisedAddress): void {
  for (const made of ownEndpoints(address)) {
    const { storage } = registry.get(made.group, made.plural)!;
    const known = store.collection(storage).get(made.key);
    if (known && isSame(objectOf(known), made.object)) continue;
    putSystemObject(store, registry, clock, made);
  }
}

function isSame(known: WorkingObject, wanted: WorkingObject): boolean {
  return ["subsets", "endpoints", "ports"].every((field) => deepEqual(known[field], wanted[field]));
}

function ownEndpoints({ ip, port }: AdvertisedAddress): SystemObject[] {
  const ports = [{ name: "https", port, protocol: "TCP" }];
  const key = `${NAMESPACE}/${NAME}`;
  const metadata = (labels: Record<string, string>) => ({ name: NAME, namespace: NAMESPACE, labels });
  const labelled = (label: string) => ({ "f:labels": { ".": {}, [`f:${label}`]: {} } });
  const [unmirrored, service] = ["endpointslice.kubernetes.io/skip-mirror", "kubernetes.io/service-name"];
  return [
    {
      group: "",
      plural: "endpoints",
      key,
      object: {
        kind: "Endpoints",
        apiVersion: "v1",
        metadata: metadata({ [unmirrored]: "true" }),
        subsets: [{ addresses: [{ ip }], ports }],
      } as WorkingObject,
      fields: { "f:metadata": labelled(unmirrored), "f:subsets": {} },
    },
    {
      group: "discovery.k8s.io",
      plural: "endpointslices",
      key,
      object: {
        kind: "EndpointSlice",
        apiVersion: "discovery.k8s.io/v1",
        metadata: { ...metadata({ [service]: NAME }), generation: 1 },
        addressType: "IPv4",
        endpoints: [{ addresses: [ip], conditions: { ready: true } }],
        ports,
      } as WorkingObject,
      fields: { "f:addressType": {}, "f:endpoints": {}, "f:metadata": labelled(service), "f:ports": {} },
    },
  ];
}
