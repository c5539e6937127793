import assert from "node:assert/strict";
import { type Cluster, type ClusterOptions, type NodeShape, startCluster } from "@konverge/cluster";
import { type KubeObject, type ObjectKey, VirtualClock } from "@konverge/core";
import { type ContainerStatus, Event, Pod, type PodSpec } from "@konverge/kinds";
import { during } from "../behavior/stages.ts";

/** A whole cluster on virtual time, with nodes of a test's own. */
export interface VirtualNodes {
  readonly cluster: Cluster;
  readonly clock: VirtualClock;
  /** Waits for a call, letting time pass as far as it needs. */
  wait<T>(promise: Promise<T>): Promise<T>;
  /** Lets time pass. */
  pass(ms: number): Promise<void>;
  pod(name: string, spec?: Partial<PodSpec>, metadata?: Partial<KubeObject["metadata"]>): Promise<Pod>;
  get(name: string): Promise<Pod>;
  /** `Reason message`, oldest first. */
  events(name: string): Promise<string[]>;
}

/** A node with little on it. */
export function node(name: string, more: Partial<NodeShape> = {}, capacity: Record<string, string> = {}): NodeShape {
  return { name, ...more, capacity: { cpu: "4", memory: "8Gi", pods: "110", ...capacity } };
}

/** Runs a test on a cluster with these nodes. */
export async function onNodes(
  nodes: readonly NodeShape[],
  play: (stage: VirtualNodes) => Promise<void>,
  options: ClusterOptions & { seed?: number } = {},
): Promise<void> {
  const clock = new VirtualClock({ seed: options.seed ?? 1 });
  const wait = <T>(promise: Promise<T>) => during(clock, promise);
  const cluster = await wait(startCluster({ ...options, clock, nodes }));
  const { client } = cluster;
  try {
    await play({
      cluster,
      clock,
      wait,
      pass: (ms) => clock.advance(ms),
      async pod(name, spec = {}, metadata = {}) {
        const containers = [{ name: "main", image: "app" }];
        const made = { metadata: { name, namespace: "default", ...metadata }, spec: { containers, ...spec } };
        return wait(client.create(Pod, made as never));
      },
      get: (name) => wait(client.get(Pod, `default/${name}`)),
      async events(name) {
        const { items } = await wait(client.list(Event, { namespace: "default" }));
        return items
          .filter(({ involvedObject }) => involvedObject.name === name)
          .sort((a, b) => ((a.eventTime ?? "") < (b.eventTime ?? "") ? -1 : 1))
          .map(({ reason, message }) => `${reason} ${message}`);
      },
    });
  } finally {
    await wait(cluster.stop());
  }
}

/** What a container asks for. */
export function asking(requests: Record<string, string>): Partial<PodSpec> {
  return { containers: [{ name: "main", image: "app", resources: { requests } }] };
}

/** The status of a pod's container. */
export function containerOf(pod: Pod, name: ObjectKey = "main"): ContainerStatus {
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {};
  const found = [...containerStatuses, ...initContainerStatuses].find((status) => status.name === name);
  assert.ok(found, `${pod.metadata.name} reports nothing about ${name}`);
  return found;
}

export function conditionOf({ status }: Pod, type: string) {
  return status?.conditions?.find((condition) => condition.type === type);
}
