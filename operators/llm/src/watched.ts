import { cacheKind, type KubeObject, type WatchedKind, watchKind } from "konverge";
import { CustomResourceDefinition, Node, Pod } from "konverge/kinds";
import { GPU_PRODUCT } from "./gpu-nodes.ts";
import { MANAGED } from "./inference-server.ts";
import { SERVICE_MONITOR_CRD } from "./service-monitor.ts";

const selector = Object.entries(MANAGED)
  .map(([name, value]) => `${name}=${value}`)
  .join(",");

/** The pods of a kind's objects, which carry the object's name in a label. */
export function podsOf<T extends KubeObject>(label: string): WatchedKind<T> {
  return watchKind<Pod, T>(Pod, {
    labelSelector: selector,
    to: ({ metadata: { namespace, labels } }) => (labels?.[label] ? [`${namespace}/${labels[label]}`] : []),
  });
}

/** The nodes, of which only the GPUs' product counts. */
export function gpuNodes<T extends KubeObject>(): WatchedKind<T> {
  return cacheKind<Node, T>(Node, {
    project: ({ apiVersion, kind, metadata: { name, uid, resourceVersion, labels } }) => {
      const product = labels?.[GPU_PRODUCT];
      return {
        apiVersion,
        kind,
        metadata: { name, uid, resourceVersion, ...(product && { labels: { [GPU_PRODUCT]: product } }) },
      };
    },
  });
}

/** Whether the Prometheus operator is installed. */
export function monitoring<T extends KubeObject>(): WatchedKind<T> {
  return cacheKind<CustomResourceDefinition, T>(CustomResourceDefinition, {
    fieldSelector: `metadata.name=${SERVICE_MONITOR_CRD}`,
  });
}
