import type { ApiResponse } from "@konverge/core";

/**
 * Values that tests publish in the metrics APIs, by `namespace/metric` (external) or `namespace/resource/name/metric`
 * (custom, where the name may be `*`: one value for each pod, listed by name).
 */
export type Measures = Map<string, string | Record<string, string>>;

export const CUSTOM = "custom.metrics.k8s.io";
export const EXTERNAL = "external.metrics.k8s.io";

/** The body that the metrics APIs answer a path with; undefined: there is nothing there. */
export function measured(measures: Measures, path: string, timestamp: string): object | undefined {
  const { pathname } = new URL(path, "http://localhost");
  const [, , group = "", version = "", , namespace = "", ...rest] = pathname.split("/").map(decodeURIComponent);
  if (group !== CUSTOM && group !== EXTERNAL) return undefined;
  const apiVersion = `${group}/${version}`;
  if (namespace === "") return { kind: "APIResourceList", apiVersion: "v1", groupVersion: apiVersion, resources: [] };
  const value = measures.get([namespace, ...rest].join("/"));
  const metadata = {};
  if (group === EXTERNAL) {
    const items = typeof value === "string" ? [{ metricName: rest[0], metricLabels: {}, timestamp, value }] : [];
    return { kind: "ExternalMetricValueList", apiVersion, metadata, items };
  }
  const [resource, name = "", metric = ""] = rest;
  const values = typeof value === "string" ? { [name]: value } : (value ?? {});
  const items = Object.entries(values).map(([described, one]) => ({
    describedObject: { kind: resource === "pods" ? "Pod" : "Object", namespace, name: described, apiVersion: "v1" },
    metric: { name: metric },
    timestamp,
    value: one,
  }));
  return { kind: "MetricValueList", apiVersion, metadata, items };
}

export function jsonAnswer(body: object | undefined): ApiResponse {
  const found = body ?? { kind: "Status", apiVersion: "v1", status: "Failure", reason: "NotFound", code: 404 };
  return {
    status: body ? 200 : 404,
    headers: { "content-type": "application/json" },
    body: `${JSON.stringify(found)}\n`,
  };
}
