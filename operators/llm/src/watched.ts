import { cacheKind, type KubeObject, type WatchedKind, watchKind } from "konverge";
import { CustomResourceDefinition, Pod } from "konverge/kinds";
import { httpRoutes } from "./http-route.ts";
import { MANAGED } from "./inference-server.ts";
import { SERVICE_MONITOR_CRD } from "./service-monitor.ts";

/** Selects what this operator makes. */
export const MANAGED_SELECTOR = Object.entries(MANAGED)
  .map(([name, value]) => `${name}=${value}`)
  .join(",");

/** The pods of a kind's objects, which carry the object's name in a label. */
export function podsOf<T extends KubeObject>(label: string): WatchedKind<T> {
  return watchKind<Pod, T>(Pod, {
    labelSelector: MANAGED_SELECTOR,
    to: ({ metadata: { namespace, labels } }) => (labels?.[label] ? [`${namespace}/${labels[label]}`] : []),
  });
}

/** Whether the Prometheus operator is installed. */
export function monitoring<T extends KubeObject>(): WatchedKind<T> {
  return cacheKind<CustomResourceDefinition, T>(CustomResourceDefinition, {
    fieldSelector: `metadata.name=${SERVICE_MONITOR_CRD}`,
  });
}

/** Whether the Gateway API is installed. */
export function gatewayApi<T extends KubeObject>(): WatchedKind<T> {
  return httpRoutes.definition as WatchedKind<T>;
}
