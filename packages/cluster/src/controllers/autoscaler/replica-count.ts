import { own, parseQuantity } from "@konverge/core";
import type { Container, Pod } from "@konverge/kinds";
import { isReady, podCondition } from "../workloads/pod-state.ts";
import type { PodMetric, PodMetrics } from "./metrics-client.ts";

/** Milliseconds after its start in which a pod's CPU may be unusual. */
const CPU_INITIALIZATION = 300_000;
const INITIAL_READINESS = 30_000;

/** By how much a ratio may be off before anything is done. */
export interface Tolerance {
  up: number;
  down: number;
}

/** The replica count that follows from a metric, and the metric's current value. */
export interface Count {
  replicas: number;
  /** In thousandths, for one pod. */
  average: number;
  /** In percent of what the pods request. */
  utilization?: number;
}

interface Grouped {
  /** The pods whose values count. */
  counted: PodMetrics;
  ready: number;
  unready: string[];
  missing: string[];
}

const isWithin = (ratio: number, { up, down }: Tolerance): boolean => 1 - down <= ratio && ratio <= 1 + up;

/** How many replicas keep the pods' use of a resource at a share of what they request. */
export function byUtilization(
  current: number,
  pods: readonly Pod[],
  metrics: PodMetrics,
  options: { target: number; resource: string; container?: string | undefined; tolerance: Tolerance; now: number },
): Count {
  const { target, resource, container, now } = options;
  const groups = group(pods, metrics, resource, now);
  const requests = requestsOf(pods, resource, container);
  const ratioOf = (values: PodMetrics) => {
    let [used, requested] = [0, 0];
    for (const [name, { value }] of values) {
      used += value;
      requested += requests.get(name) ?? 0;
    }
    if (requested === 0) throw new Error("no metrics returned matched known pods");
    return { ratio: (used * 100) / requested / target, utilization: Math.trunc((used * 100) / requested), used };
  };
  const { ratio, utilization, used } = ratioOf(groups.counted);
  const fill = (name: string, isDown: boolean) => (isDown ? (requests.get(name)! * Math.max(100, target)) / 100 : 0);
  const replicas = settle(current, groups, ratio, { ...options, fill, ratioOf: (values) => ratioOf(values).ratio });
  return { replicas, utilization, average: Math.trunc(used / groups.counted.size) };
}

/** How many replicas keep a metric of the pods at a value. */
export function byAverage(
  current: number,
  pods: readonly Pod[],
  metrics: PodMetrics,
  options: { target: number; resource: string; tolerance: Tolerance; now: number },
): Count {
  const { target, resource, now } = options;
  const groups = group(pods, metrics, resource, now);
  if (groups.counted.size === 0) throw new Error("no metrics returned matched known pods");
  const averageOf = (values: PodMetrics) => {
    return [...values.values()].reduce((sum, { value }) => sum + value, 0) / values.size;
  };
  const average = averageOf(groups.counted);
  const fill = (_: string, isDown: boolean) => (isDown ? target : 0);
  const ratioOf = (values: PodMetrics) => averageOf(values) / target;
  return {
    replicas: settle(current, groups, average / target, { ...options, fill, ratioOf }),
    average: Math.trunc(average),
  };
}

/** Takes into account, cautiously, the pods of which nothing is known. */
function settle(
  current: number,
  { counted, ready, unready, missing }: Grouped,
  ratio: number,
  options: {
    tolerance: Tolerance;
    fill: (name: string, isDown: boolean) => number;
    ratioOf: (values: PodMetrics) => number;
  },
): number {
  const { tolerance, fill, ratioOf } = options;
  const ignoresUnready = unready.length > 0 && ratio > 1;
  if (!ignoresUnready && missing.length === 0) return isWithin(ratio, tolerance) ? current : Math.ceil(ratio * ready);
  const filled = new Map<string, PodMetric>(counted);
  const put = (name: string, value: number) => filled.set(name, { value, timestamp: 0, windowMs: 0 });
  if (ratio !== 1) for (const name of missing) put(name, fill(name, ratio < 1));
  if (ignoresUnready) for (const name of unready) put(name, 0);
  const next = ratioOf(filled);
  if (isWithin(next, tolerance) || (ratio < 1 && next > 1) || (ratio > 1 && next < 1)) return current;
  const replicas = Math.ceil(next * filled.size);
  return (next < 1 && replicas > current) || (next > 1 && replicas < current) ? current : replicas;
}

function group(pods: readonly Pod[], metrics: PodMetrics, resource: string, now: number): Grouped {
  const counted: PodMetrics = new Map(metrics);
  const groups: Grouped = { counted, ready: 0, unready: [], missing: [] };
  const known = new Set(pods.map(({ metadata }) => metadata.name));
  for (const name of metrics.keys()) if (!known.has(name)) counted.delete(name);
  for (const pod of pods) {
    const { name, deletionTimestamp } = pod.metadata;
    const metric = metrics.get(name);
    if (deletionTimestamp || pod.status?.phase === "Failed") counted.delete(name);
    else if (pod.status?.phase === "Pending") groups.unready.push(name);
    else if (!metric) groups.missing.push(name);
    else if (resource === "cpu" && isSettling(pod, metric, now)) groups.unready.push(name);
    else groups.ready++;
  }
  for (const name of groups.unready) counted.delete(name);
  return groups;
}

/** A pod that has just started uses more than it will. */
function isSettling(pod: Pod, metric: PodMetric, now: number): boolean {
  const condition = podCondition(pod, "Ready");
  const started = Date.parse(pod.status?.startTime ?? "");
  if (!condition || Number.isNaN(started)) return true;
  const changed = Date.parse(condition.lastTransitionTime ?? "");
  if (started + CPU_INITIALIZATION > now) return !isReady(pod) || metric.timestamp < changed + metric.windowMs;
  return !isReady(pod) && started + INITIAL_READINESS > changed;
}

function requestsOf(pods: readonly Pod[], resource: string, container: string | undefined): Map<string, number> {
  const requests = new Map<string, number>();
  for (const { metadata, spec } of pods) {
    const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
    const counted = [...(spec?.containers ?? []), ...sidecars].filter(({ name }) => !container || name === container);
    const request = ({ name, resources }: Container) => {
      const amount = own(resources?.requests ?? {}, resource);
      if (amount === undefined)
        throw new Error(`missing request for ${resource} in container ${name} of Pod ${metadata.name}`);
      return Number(parseQuantity(amount).milliValue());
    };
    requests.set(
      metadata.name,
      counted.reduce((sum, one) => sum + request(one), 0),
    );
  }
  return requests;
}

/** How many replicas bring a value that is not of the pods to its target; only ready pods share it. */
export function byRatio(current: number, pods: readonly Pod[], ratio: number, tolerance: Tolerance): number {
  if (current === 0) return Math.ceil(ratio);
  if (isWithin(ratio, tolerance)) return current;
  return Math.ceil(ratio * pods.filter((pod) => pod.status?.phase === "Running" && isReady(pod)).length);
}

/** How many replicas leave each with its share of a value. */
export function byShare(statusReplicas: number, value: number, target: number, tolerance: Tolerance): number {
  return statusReplicas > 0 && isWithin(value / (target * statusReplicas), tolerance)
    ? statusReplicas
    : Math.ceil(value / target);
}
