import type { Client } from "@konverge/client";
import { formatLabelSelector, parseQuantity } from "@konverge/core";
import { selectorOf } from "../workloads/selector.ts";

/** What a pod uses, in thousandths, and when that was measured. */
export interface PodMetric {
  value: number;
  timestamp: number;
  windowMs: number;
}

export type PodMetrics = Map<string, PodMetric>;

type Selector = Parameters<typeof selectorOf>[0];

interface PodMetricsList {
  items: {
    metadata: { name: string };
    timestamp: string;
    window: string;
    containers: { name: string; usage: Record<string, string> }[];
  }[];
}

interface MetricValueList {
  items: { describedObject?: { name: string }; metricName?: string; value: string; timestamp: string }[];
}

const milli = (quantity: string): number => Number(parseQuantity(quantity).milliValue());

const query = (parameters: Record<string, string | undefined>): string => {
  const parts = Object.entries(parameters).flatMap(([key, value]) =>
    value ? [`${key}=${encodeURIComponent(value)}`] : [],
  );
  return parts.length > 0 ? `?${parts.join("&")}` : "";
};

const ask = async <T>(client: Client, path: string): Promise<T> =>
  JSON.parse(await client.request({ method: "GET", path })) as T;

/** What the pods of a selector use of a resource, all containers together or one of them (metrics.k8s.io). */
export async function resourceMetrics(
  client: Client,
  options: { namespace: string; labelSelector: string; resource: string; container?: string },
): Promise<PodMetrics> {
  const { namespace, labelSelector, resource, container } = options;
  const path = `/apis/metrics.k8s.io/v1beta1/namespaces/${namespace}/pods${query({ labelSelector })}`;
  const { items } = await ask<PodMetricsList>(client, path);
  const metrics: PodMetrics = new Map();
  for (const { metadata, timestamp, window, containers } of items) {
    const measured = containers.filter(({ name }) => !container || name === container);
    if (measured.length === 0 || measured.some(({ usage }) => usage[resource] === undefined)) continue;
    const value = measured.reduce((sum, { usage }) => sum + milli(usage[resource]!), 0);
    metrics.set(metadata.name, {
      value,
      timestamp: Date.parse(timestamp),
      windowMs: Number.parseFloat(window) * 1000 || 60_000,
    });
  }
  if (metrics.size === 0) throw new Error("no metrics returned from resource metrics API");
  return metrics;
}

/** A metric of each pod of a selector (custom.metrics.k8s.io). */
export async function podsMetrics(
  client: Client,
  options: { namespace: string; labelSelector: string; metric: string; metricSelector: Selector | undefined },
): Promise<PodMetrics> {
  const { namespace, labelSelector, metric } = options;
  const metricLabelSelector = selectorText(options.metricSelector);
  const path = `/apis/custom.metrics.k8s.io/v1beta2/namespaces/${namespace}/pods/*/${metric}`;
  const { items } = await ask<MetricValueList>(client, path + query({ labelSelector, metricLabelSelector }));
  if (items.length === 0) throw new Error("no metrics returned from custom metrics API");
  return new Map(
    items.map(({ describedObject, value, timestamp }) => [
      describedObject?.name ?? "",
      { value: milli(value), timestamp: Date.parse(timestamp), windowMs: 60_000 },
    ]),
  );
}

/** A metric of one object (custom.metrics.k8s.io), in thousandths. */
export async function objectMetric(
  client: Client,
  options: { namespace: string; resource: string; name: string; metric: string; metricSelector: Selector | undefined },
): Promise<number> {
  const { namespace, resource, name, metric } = options;
  const metricLabelSelector = selectorText(options.metricSelector);
  const path = `/apis/custom.metrics.k8s.io/v1beta2/namespaces/${namespace}/${resource}/${name}/${metric}`;
  const { items } = await ask<MetricValueList>(client, path + query({ metricLabelSelector }));
  if (items.length !== 1) throw new Error(`expected one value of the metric ${metric}, got ${items.length}`);
  return milli(items[0]!.value);
}

/** All values of a metric from outside (external.metrics.k8s.io), in thousandths. */
export async function externalMetric(
  client: Client,
  options: { namespace: string; metric: string; metricSelector: Selector | undefined },
): Promise<number[]> {
  const { namespace, metric } = options;
  const path = `/apis/external.metrics.k8s.io/v1beta1/namespaces/${namespace}/${metric}`;
  const { items } = await ask<MetricValueList>(
    client,
    path + query({ labelSelector: selectorText(options.metricSelector) }),
  );
  if (items.length === 0) throw new Error("no metrics returned from external metrics API");
  return items.map(({ value }) => milli(value));
}

const selectorText = (selector: Selector | undefined): string | undefined =>
  selector && formatLabelSelector(selectorOf(selector));
