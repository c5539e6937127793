import { APIService, Service } from "@konverge/kinds";
import type { TestEnvironment } from "@konverge/testing";

const API = { group: "custom.metrics.k8s.io", version: "v1beta2" };

/** Registers a metrics adapter, as Prometheus' is. The environment's option `extension` answers for it: {@link customMetrics}. */
export async function registerMetricsAdapter({ client, namespace }: TestEnvironment): Promise<void> {
  await client.create(Service, {
    metadata: { name: "adapter", namespace },
    spec: { type: "ExternalName", externalName: "adapter.example" },
  });
  await client.create(APIService, {
    metadata: { name: `${API.version}.${API.group}` },
    spec: {
      ...API,
      groupPriorityMinimum: 100,
      versionPriority: 100,
      insecureSkipTLSVerify: true,
      service: { namespace, name: "adapter", port: 443 },
    },
  });
}

/** Answers requests to the custom metrics API with the value that each pod has of a metric, as a quantity. */
export function customMetrics(
  values: (metric: string) => Iterable<readonly [pod: string, value: string]>,
  now: () => number,
) {
  return async ({ path }: { path: string }) => {
    const segments = new URL(path, "http://localhost").pathname.split("/").map(decodeURIComponent);
    const [, , group = "", version = "", , namespace = "", , , metric = ""] = segments;
    const apiVersion = `${group}/${version}`;
    const timestamp = `${new Date(now()).toISOString().slice(0, 19)}Z`;
    const body =
      namespace === ""
        ? { kind: "APIResourceList", apiVersion: "v1", groupVersion: apiVersion, resources: [] }
        : {
            kind: "MetricValueList",
            apiVersion,
            metadata: {},
            items: Array.from(values(metric), ([name, value]) => ({
              describedObject: { kind: "Pod", apiVersion: "v1", namespace, name },
              metric: { name: metric },
              timestamp,
              value,
            })),
          };
    return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  };
}
