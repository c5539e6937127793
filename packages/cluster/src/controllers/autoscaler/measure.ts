import { parseApiVersion, parseQuantity, type QuantityValue } from "@konverge/core";
import {
  type HorizontalPodAutoscaler,
  type MetricSpec,
  type MetricStatus,
  type MetricTarget,
  Pod,
} from "@konverge/kinds";
import type { ReconcileContext } from "@konverge/runtime";
import type { ServedKinds } from "../../parts/served-kinds.ts";
import { messageOf } from "../workloads/pod-control.ts";
import { goSelector } from "../workloads/selector.ts";
import { externalMetric, objectMetric, podsMetrics, resourceMetrics } from "./metrics-client.ts";
import { rulesOf } from "./pace.ts";
import { byAverage, byRatio, byShare, byUtilization, type Count, type Tolerance } from "./replica-count.ts";

/** What one metric says: how many replicas, its name in messages, and its value for the status. */
export interface Proposal {
  replicas: number;
  name: string;
  status: MetricStatus;
}

/** What an autoscaler measures. */
export interface Target {
  hpa: HorizontalPodAutoscaler;
  specReplicas: number;
  statusReplicas: number;
  labelSelector: string;
  pods: Pod[];
}

const DEFAULT_TOLERANCE = 0.1;

/** Why a metric could not be read, as the condition says it. */
export const FAILURES: Record<string, string> = {
  Resource: "FailedGetResourceMetric",
  ContainerResource: "FailedGetContainerResourceMetric",
  Pods: "FailedGetPodsMetric",
  Object: "FailedGetObjectMetric",
  External: "FailedGetExternalMetric",
};

/** Reads a metric, and computes the replica count that follows from it. */
export async function measure(
  context: ReconcileContext,
  kinds: ServedKinds,
  target: Target,
  metric: MetricSpec,
): Promise<Proposal> {
  const tolerance = toleranceOf(target.hpa);
  switch (metric.type) {
    case "Resource":
      return ofResource(context, target, metric.resource!, tolerance);
    case "ContainerResource":
      return ofResource(context, target, metric.containerResource!, tolerance);
    case "Pods":
      return ofPods(context, target, metric.pods!, tolerance);
    case "Object":
      return ofObject(context, kinds, target, metric.object!, tolerance);
    case "External":
      return ofExternal(context, target, metric.external!, tolerance);
    default:
      throw new Error(`unknown metric source type "${metric.type}"`);
  }
}

function toleranceOf(hpa: HorizontalPodAutoscaler): Tolerance {
  const { up, down } = rulesOf(hpa);
  const read = (text: QuantityValue | undefined) =>
    text === undefined ? DEFAULT_TOLERANCE : parseQuantity(text).asNumber();
  return { up: read(up.tolerance), down: read(down.tolerance) };
}

/** Why a metric cannot be read. Its message is for the metric's own condition. */
export class MetricError extends Error {
  /** The message when all metrics have failed. */
  readonly inAll: string;

  constructor(message: string, inAll: string, cause: unknown) {
    super(message, { cause });
    this.inAll = inAll;
  }
}

/** Reads a metric. `why` words an error for the condition, `inAll` for the failure of all metrics. */
async function reading<T>(
  read: () => Promise<T>,
  why: (message: string) => string,
  inAll: (message: string) => string,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const message = why(error instanceof Error ? error.message : String(error));
    throw new MetricError(message, inAll(message), error);
  }
}

const milli = (text: QuantityValue | undefined): number => Number(parseQuantity(text ?? "0").milliValue());
const text = (thousandths: number): string => String(parseQuantity(`${Math.round(thousandths)}m`));

async function ofResource(
  { client, clock }: ReconcileContext,
  { hpa, specReplicas, labelSelector, pods }: Target,
  source: { name: string; container?: string; target: MetricTarget },
  tolerance: Tolerance,
): Promise<Proposal> {
  const { name: resource, container, target } = source;
  const namespace = hpa.metadata.namespace!;
  const kind = container ? "container resource" : "resource";
  const isAverage = target.averageValue !== undefined;
  const count = await reading(
    async (): Promise<Count> => {
      const wanted = { namespace, labelSelector, resource, ...(container && { container }) };
      const metrics = await resourceMetrics(client, wanted).catch((error: unknown) => {
        throw new Error(`unable to get metrics for resource ${resource}: ${messageOf(error)}`, { cause: error });
      });
      const common = { resource, tolerance, now: clock.now() };
      if (isAverage) return byAverage(specReplicas, pods, metrics, { ...common, target: milli(target.averageValue) });
      const utilization = { ...common, container, target: target.averageUtilization ?? 80 };
      return byUtilization(specReplicas, pods, metrics, utilization);
    },
    (why) => `failed to get ${resource} ${isAverage ? "usage" : "utilization"}: ${why}`,
    (why) => `failed to get ${container ? `${container} container` : `${resource} resource`} metric value: ${why}`,
  );
  const name = isAverage ? `${resource} ${kind}` : `${resource} ${kind} utilization (percentage of request)`;
  const { utilization, average } = count;
  const current = {
    averageValue: text(average),
    ...(utilization !== undefined && { averageUtilization: utilization }),
  };
  const status: MetricStatus = container
    ? { type: "ContainerResource", containerResource: { name: resource, container, current } }
    : { type: "Resource", resource: { name: resource, current } };
  return { replicas: count.replicas, name, status };
}

async function ofPods(
  { client, clock }: ReconcileContext,
  { hpa, specReplicas, labelSelector, pods }: Target,
  { metric, target }: NonNullable<MetricSpec["pods"]>,
  tolerance: Tolerance,
): Promise<Proposal> {
  const namespace = hpa.metadata.namespace!;
  const wanted = { namespace, labelSelector, metric: metric.name, metricSelector: metric.selector };
  const inAll = (why: string) => `failed to get pods metric value: ${why}`;
  const metrics = await reading(
    () => podsMetrics(client, wanted),
    (why) => `unable to get metric ${metric.name}: ${why}`,
    inAll,
  );
  const options = { resource: "", tolerance, now: clock.now(), target: milli(target.averageValue) };
  const { replicas, average } = await reading(
    async () => byAverage(specReplicas, pods, metrics, options),
    (why) => why,
    inAll,
  );
  const status: MetricStatus = { type: "Pods", pods: { metric, current: { averageValue: text(average) } } };
  return { replicas, name: `pods metric ${metric.name}`, status };
}

async function ofObject(
  { client }: ReconcileContext,
  kinds: ServedKinds,
  { hpa, specReplicas, statusReplicas, pods }: Target,
  { describedObject, metric, target }: NonNullable<MetricSpec["object"]>,
  tolerance: Tolerance,
): Promise<Proposal> {
  const { group } = parseApiVersion(describedObject.apiVersion ?? "v1");
  const kind = kinds.byName(group, describedObject.kind);
  if (!kind) throw new Error(`no matches for kind "${describedObject.kind}"`);
  const resource = group === "" ? kind.plural : `${kind.plural}.${group}`;
  const namespace = hpa.metadata.namespace!;
  const isAverage = target.type === "AverageValue";
  const { name: object } = describedObject;
  const wanted = { namespace, resource, name: object, metric: metric.name, metricSelector: metric.selector };
  const value = await reading(
    () => objectMetric(client, wanted),
    (why) => `unable to get metric ${metric.name}: ${describedObject.kind} on ${namespace} ${object}/${why}`,
    (why) =>
      `failed to get object metric value: ${isAverage ? `failed to get ${metric.name} object metric: ` : ""}${why}`,
  );
  const replicas = isAverage
    ? byShare(statusReplicas, value, milli(target.averageValue), tolerance)
    : byRatio(specReplicas, pods, value / milli(target.value), tolerance);
  const current = isAverage
    ? { averageValue: text(Math.ceil(value / Math.max(1, statusReplicas))) }
    : { value: text(value) };
  const name = isAverage
    ? `external metric ${metric.name}(${goSelector(metric.selector)})`
    : `${describedObject.kind} metric ${metric.name}`;
  return { replicas, name, status: { type: "Object", object: { describedObject, metric, current } } };
}

async function ofExternal(
  { client }: ReconcileContext,
  { hpa, specReplicas, statusReplicas, pods }: Target,
  { metric, target }: NonNullable<MetricSpec["external"]>,
  tolerance: Tolerance,
): Promise<Proposal> {
  const namespace = hpa.metadata.namespace!;
  const isAverage = target.averageValue !== undefined;
  const selector = goSelector(metric.selector);
  const values = await reading(
    () => externalMetric(client, { namespace, metric: metric.name, metricSelector: metric.selector }),
    (why) => `unable to get external metric ${namespace}/${metric.name}/${selector}: ${why}`,
    (why) => {
      const kind = isAverage ? `${metric.name} external metric` : `external metric ${metric.name}`;
      return `failed to get ${metric.name} external metric value: failed to get ${kind}: ${why}`;
    },
  );
  const value = values.reduce((sum, one) => sum + one, 0);
  const replicas = isAverage
    ? byShare(statusReplicas, value, milli(target.averageValue), tolerance)
    : byRatio(specReplicas, pods, value / milli(target.value), tolerance);
  const current = isAverage
    ? { averageValue: text(Math.ceil(value / Math.max(1, statusReplicas))) }
    : { value: text(value) };
  return {
    replicas,
    name: `external metric ${metric.name}(${selector})`,
    status: { type: "External", external: { metric, current } },
  };
}

/** The pods that the text of a scale's selector selects. */
export function podsOfSelector(
  { cache }: ReconcileContext,
  namespace: string,
  matches: (labels: Record<string, string>) => boolean,
): Pod[] {
  return cache.list(Pod, namespace).filter(({ metadata }) => matches(metadata.labels ?? {}));
}
