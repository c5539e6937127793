import { isNotFound, type KindRef, type KubeObject, keyOf, ownerReference } from "@konverge/core";
import { type Endpoint, EndpointSlice } from "@konverge/kinds";
import type { ReconcileContext } from "@konverge/runtime";
import { sameStored } from "../workloads/status.ts";

export const SERVICE_NAME = "kubernetes.io/service-name";
export const MANAGED_BY = "endpointslice.kubernetes.io/managed-by";
const HEADLESS = "service.kubernetes.io/headless";

/** The desired endpoints for one set of ports; they may fill several slices. */
export interface SlicePlan {
  ports: NonNullable<EndpointSlice["ports"]>;
  addressType: "IPv4" | "IPv6";
  endpoints: Endpoint[];
}

export interface SliceOptions<T extends KubeObject> {
  kind: KindRef<T>;
  owner: T;
  manager: string;
  serviceName: string;
  labels: Record<string, string>;
  headless: boolean;
  /** Endpoints that fit in one slice. */
  size: number;
}

/** Brings the slices of a service to what is planned, with as few writes as possible. */
export async function keepSlices<T extends KubeObject>(
  { client }: ReconcileContext,
  options: SliceOptions<T>,
  existing: readonly EndpointSlice[],
  plans: readonly SlicePlan[],
): Promise<void> {
  const { kind, owner, manager, serviceName, headless, size } = options;
  const labels = {
    ...options.labels,
    [SERVICE_NAME]: serviceName,
    [MANAGED_BY]: manager,
    ...(headless && { [HEADLESS]: "" }),
  };
  const unused = [...existing];
  for (const plan of plans) {
    for (let from = 0; from === 0 || from < plan.endpoints.length; from += size) {
      const endpoints = plan.endpoints.slice(from, from + size);
      const { addressType, ports } = plan;
      const index = unused.findIndex((slice) => slice.addressType === addressType && sameStored(slice.ports, ports));
      const [slice] = index < 0 ? [] : unused.splice(index, 1);
      if (!slice) {
        const metadata = {
          generateName: `${serviceName}-`,
          namespace: owner.metadata.namespace!,
          labels,
          ownerReferences: [ownerReference(kind, owner)],
        };
        // Direct writes: endpoints are packed into as few changed slices as possible, which an apply of named slices
        // cannot.
        await client.create(EndpointSlice, { metadata, addressType, endpoints, ports });
      } else if (!sameStored(slice.endpoints, endpoints) || !sameStored(slice.metadata.labels, labels)) {
        await client.update(EndpointSlice, { ...slice, metadata: { ...slice.metadata, labels }, endpoints, ports });
      }
    }
  }
  for (const slice of unused) {
    await client.delete(EndpointSlice, keyOf(slice)).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }
}
