import type { ApiServer, RequestInfo } from "@konverge/apiserver";
import {
  type ApiResponse,
  type Clock,
  matchesLabels,
  methodNotAllowed,
  notFound,
  parseLabelSelector,
  type QuantityValue,
  readText,
  timestamp,
} from "@konverge/core";
import type { Node } from "@konverge/kinds";
import type { SimulatedContainer } from "../kubelet/container.ts";
import type { Kubelet } from "../kubelet/kubelet.ts";
import type { PodWorker } from "../kubelet/pod-worker.ts";
import { amountOf } from "../scheduler/requests.ts";
import type { NodeUsage } from "./real-usage.ts";
import { type Usage, usageOf, usageQuantities } from "./usage.ts";

const GROUP = "metrics.k8s.io";
const VERSION = `${GROUP}/v1beta1`;
const WINDOW = "15s";
const RESOURCES = [
  { name: "nodes", singularName: "", namespaced: false, kind: "NodeMetrics", verbs: ["get", "list"] },
  { name: "pods", singularName: "", namespaced: true, kind: "PodMetrics", verbs: ["get", "list"] },
];
const GROUP_INFO = {
  name: GROUP,
  versions: [{ groupVersion: VERSION, version: "v1beta1" }],
  preferredVersion: { groupVersion: VERSION, version: "v1beta1" },
};

/** The source of the usage. */
export interface MetricsSources {
  /** The simulated nodes. */
  readonly kubelet: Kubelet;
  readonly server: ApiServer;
  readonly clock: Clock;
  /** What the kubelets of real nodes have measured. */
  readonly real: readonly NodeUsage[];
}

/** The answer to a request to metrics.k8s.io: what the running containers use. */
export function metricsResponse(sources: MetricsSources, info: RequestInfo): ApiResponse {
  if (!info.isResource && info.group === "") return json({ kind: "APIGroup", apiVersion: "v1", ...GROUP_INFO });
  if (info.version !== "v1beta1") throw notFound({ group: GROUP, plural: info.resource }, info.name);
  if (!info.isResource) {
    return json({ kind: "APIResourceList", apiVersion: "v1", groupVersion: VERSION, resources: RESOURCES });
  }
  const resource = info.subresource === "" && RESOURCES.find(({ name }) => name === info.resource);
  if (!resource) throw notFound({ group: GROUP, plural: info.resource }, info.name);
  if (info.verb !== "get" && info.verb !== "list")
    throw methodNotAllowed({ group: GROUP, plural: info.resource }, info.verb);
  const items = info.resource === "pods" ? podMetrics(sources) : nodeMetrics(sources);
  const inNamespace = items.filter(({ metadata }) => info.namespace === "" || metadata.namespace === info.namespace);
  if (info.name !== "") {
    const found = inNamespace.find(({ metadata }) => metadata.name === info.name);
    if (!found) throw notFound({ group: GROUP, plural: info.resource }, info.name);
    return json({ kind: resource.kind, apiVersion: VERSION, ...found });
  }
  const selector = info.query.get("labelSelector") ?? "";
  const requirements = parseLabelSelector(selector);
  const selected = inNamespace.filter(({ metadata }) => matchesLabels(requirements, metadata.labels));
  return json({ kind: `${resource.kind}List`, apiVersion: VERSION, metadata: {}, items: selected });
}

/** The list of API groups, with this one added: in the plain and in the aggregated form. */
export async function withMetricsGroup(response: ApiResponse): Promise<ApiResponse> {
  if (response.status !== 200) return response;
  const { body: _, headers, ...rest } = response;
  const text = await readText(response.body);
  // Nothing is said in answer to HEAD.
  if (text === "") return { ...rest, headers, body: text };
  const list = JSON.parse(text) as { kind: string; groups?: object[]; items?: object[] };
  if (list.kind === "APIGroupDiscoveryList") {
    const resources = RESOURCES.map(({ name, namespaced, kind, verbs }) => ({
      resource: name,
      responseKind: { group: GROUP, version: "v1beta1", kind },
      scope: namespaced ? "Namespaced" : "Cluster",
      singularResource: "",
      verbs,
    }));
    const versions = [{ version: "v1beta1", resources, freshness: "Current" }];
    list.items?.push({ metadata: { name: GROUP }, versions });
  } else list.groups?.push(GROUP_INFO);
  const { etag: _etag, "content-length": _length, ...others } = headers;
  return { ...rest, headers: others, body: `${JSON.stringify(list)}\n` };
}

interface Metrics {
  readonly metadata: { name: string; namespace?: string; labels?: Record<string, string>; creationTimestamp: string };
  readonly [key: string]: unknown;
}

function podMetrics({ kubelet, server, clock, real }: MetricsSources): Metrics[] {
  const now = timestamp(clock);
  const nodes = nodeUsage(kubelet, server);
  const found: Metrics[] = [];
  for (const worker of kubelet.workers()) {
    const { share } = nodes.get(worker.pod.spec?.nodeName ?? "") ?? { share: WHOLE };
    const containers = runningIn(worker).map((container) => ({
      name: container.spec.name,
      usage: usageQuantities(scaled(usedBy(kubelet, worker, container), share)),
    }));
    if (containers.length === 0) continue;
    const { name, namespace = "", labels } = worker.pod.metadata;
    const metadata = { name, namespace, ...(labels && { labels }), creationTimestamp: now };
    found.push({ metadata, timestamp: now, window: WINDOW, containers });
  }
  for (const { name, namespace, containers } of real.flatMap(({ pods }) => pods)) {
    const entry = server.store.collection("/pods").get(`${namespace}/${name}`);
    if (!entry || containers.length === 0) continue;
    const metadata = { name, namespace, ...(entry.labels && { labels: { ...entry.labels } }), creationTimestamp: now };
    const used = containers.map((one) => ({ name: one.name, usage: usageQuantities(one.usage) }));
    found.push({ metadata, timestamp: now, window: WINDOW, containers: used });
  }
  return found;
}

function nodeMetrics({ kubelet, server, clock, real }: MetricsSources): Metrics[] {
  const now = timestamp(clock);
  const nodes = nodeUsage(kubelet, server);
  const simulated = kubelet.nodeNames().map((name) => {
    const { total, share } = nodes.get(name) ?? { total: NOTHING, share: WHOLE };
    return { name, usage: scaled(total, share) };
  });
  const measured = real.map(({ node, usage }) => ({ name: node.metadata.name, usage }));
  return [...simulated, ...measured].map(({ name, usage }) => {
    const entry = server.store.collection("/nodes").get(name);
    const metadata = { name, ...(entry?.labels && { labels: { ...entry.labels } }), creationTimestamp: now };
    return { metadata, timestamp: now, window: WINDOW, usage: usageQuantities(usage) };
  });
}

interface SharedUsage {
  /** What its containers would use if there were no end to it. */
  readonly total: Usage;
  /** How much of that they get. */
  readonly share: Usage;
}

const NOTHING: Usage = { cpu: 0, memory: 0 };
const WHOLE: Usage = { cpu: 1, memory: 1 };

/** What the nodes' containers use. They share what a node has, and together never use more. */
function nodeUsage(kubelet: Kubelet, server: ApiServer): Map<string, SharedUsage> {
  const totals = new Map<string, { cpu: number; memory: number }>();
  for (const worker of kubelet.workers()) {
    const node = worker.pod.spec?.nodeName ?? "";
    const total = totals.get(node) ?? { ...NOTHING };
    for (const container of runningIn(worker)) {
      const { cpu, memory } = usedBy(kubelet, worker, container);
      total.cpu += cpu;
      total.memory += memory;
    }
    totals.set(node, total);
  }
  const shareOf = (resource: "cpu" | "memory", used: number, capacity: QuantityValue | undefined) =>
    capacity === undefined ? 1 : Math.min(1, amountOf(resource, capacity) / used);
  return new Map(
    [...totals].map(([name, total]) => {
      const { text = "{}" } = server.store.collection("/nodes").get(name) ?? {};
      const { capacity = {} } = (JSON.parse(text) as Node).status ?? {};
      const share = {
        cpu: shareOf("cpu", total.cpu, capacity["cpu"]),
        memory: shareOf("memory", total.memory, capacity["memory"]),
      };
      return [name, { total, share }];
    }),
  );
}

function scaled({ cpu, memory }: Usage, share: Usage): Usage {
  return { cpu: Math.floor(cpu * share.cpu), memory: Math.floor(memory * share.memory) };
}

function usedBy(kubelet: Kubelet, worker: PodWorker, container: SimulatedContainer): Usage {
  return usageOf(worker, container, kubelet.containerRuntime.usage(worker.pod, container.spec.name));
}

function runningIn({ containers }: PodWorker) {
  return containers.filter(({ state, role }) => state === "running" && role !== "ephemeral");
}

function json(body: object): ApiResponse {
  return { status: 200, headers: { "content-type": "application/json" }, body: `${JSON.stringify(body)}\n` };
}
