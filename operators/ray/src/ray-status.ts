import { type Conditions, conditionFalse, conditionTrue } from "konverge";
import type { Pod, Service } from "konverge/kinds";
import { parseQuantity, Quantity } from "konverge/objects";
import { PORTS, replicasOf, SUBMITTER } from "./ray-children.ts";
import type { RayCluster } from "./ray-cluster.ts";

/** What is there of a cluster. */
export interface Seen {
  readonly head: Pod | undefined;
  readonly workers: readonly Pod[];
  readonly service: Service | undefined;
}

/** A container that has submitted a job and is at its end makes its pod unready, but not the head that runs there. */
export function isReady(pod: Pod | undefined): boolean {
  const { conditions = [], containerStatuses = [] } = pod?.status ?? {};
  if (conditions.some(({ type, status }) => type === "Ready" && status === "True")) return true;
  const others = containerStatuses.filter(({ name }) => name !== SUBMITTER);
  const isOver = containerStatuses.some(({ name, state }) => name === SUBMITTER && state?.terminated);
  return isOver && others.length > 0 && others.every(({ ready }) => ready);
}

/** How a cluster is doing, in upstream's terms. */
export function statusOf(
  { spec, status: before }: RayCluster,
  { head, workers, service }: Seen,
  wanted: readonly Pod[],
) {
  const groups = spec.workerGroupSpecs ?? [];
  const sum = (count: (group: (typeof groups)[number]) => number) =>
    groups.reduce((total, one) => total + count(one), 0);
  const desired = sum((group) => replicasOf(group) * group.numOfHosts);
  const ready = workers.filter(isReady).length;
  const all = isReady(head) && ready >= desired;
  // A cluster that was ready once stays so while single workers come and go.
  const state = spec.suspend
    ? ("suspended" as const)
    : all || before?.state === "ready"
      ? ("ready" as const)
      : undefined;
  return {
    ...(state && { state }),
    desiredWorkerReplicas: desired,
    availableWorkerReplicas: workers.filter(({ status }) => status?.phase === "Running").length,
    readyWorkerReplicas: ready,
    minWorkerReplicas: sum(({ minReplicas, numOfHosts }) => minReplicas * numOfHosts),
    maxWorkerReplicas: Math.min(
      2_147_483_647,
      sum(({ maxReplicas, numOfHosts }) => maxReplicas * numOfHosts),
    ),
    desiredCPU: total(wanted, (name) => name === "cpu"),
    desiredMemory: total(wanted, (name) => name === "memory"),
    desiredGPU: total(wanted, (name) => name.endsWith("gpu")),
    head: {
      ...(head && { podName: head.metadata.name }),
      ...(head?.status?.podIP && { podIP: head.status.podIP }),
      ...(service && { serviceName: service.metadata.name }),
      ...(head?.status?.podIP && { serviceIP: head.status.podIP }),
    },
    endpoints: Object.fromEntries(Object.entries(PORTS).map(([name, port]) => [name, String(port)])),
  };
}

function total(pods: readonly Pod[], counts: (resource: string) => boolean): string {
  const amounts = pods.flatMap(({ spec }) =>
    spec!.containers.flatMap(({ resources }) => {
      const asked = { ...resources?.limits, ...resources?.requests };
      return Object.entries(asked).flatMap(([name, value]) => (counts(name) ? [parseQuantity(String(value))] : []));
    }),
  );
  return amounts.reduce((sum, one) => sum.add(one), Quantity.of(0)).toString();
}

export function conditionsOf({ spec, status }: RayCluster, { head, workers }: Seen, desired: number): Conditions {
  if (spec.suspend) {
    const left = workers.length + (head ? 1 : 0);
    return {
      RayClusterSuspending: left > 0 ? conditionTrue("UserRequestSuspend") : conditionFalse("Suspended"),
      RayClusterSuspended:
        left > 0 ? conditionFalse("Suspending", `${left} pods are still there`) : conditionTrue("Suspended"),
      Ready: conditionFalse("Suspended", "the cluster is suspended"),
    };
  }
  const provisioned = status?.conditions?.some((one) => one.type === "RayClusterProvisioned" && one.status === "True");
  const ready = workers.filter(isReady).length;
  const complete = isReady(head) && ready >= desired;
  return {
    HeadPodReady: isReady(head)
      ? conditionTrue("HeadPodRunningAndReady")
      : conditionFalse(head ? "HeadPodNotReady" : "HeadPodNotFound"),
    RayClusterProvisioned:
      complete || provisioned
        ? conditionTrue("AllPodRunningAndReadyFirstTime", "All Ray Pods are ready for the first time")
        : conditionFalse("RayClusterPodsProvisioning", "RayCluster Pods are being provisioned for first time"),
    ...(complete && { Ready: conditionTrue("AsExpected") }),
    ...(!complete && {
      Ready: conditionFalse("PodsNotReady", `${ready} of ${desired} workers are ready`),
    }),
  };
}
