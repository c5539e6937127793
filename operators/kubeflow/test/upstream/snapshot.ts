import type { JobObject } from "@konverge/kubeflow-operator";
import { type AnyObject, isNotFound, type KindRef, type KubeObject } from "konverge";
import type { Client } from "konverge/client";
import { Event, HorizontalPodAutoscaler, Pod, Service } from "konverge/kinds";

/** The state of a job, without random values and times. */
export interface Snapshot {
  readonly status: unknown;
  readonly pods: readonly unknown[];
  readonly services: readonly unknown[];
  readonly others: readonly unknown[];
  /** Each text once: the counts of events are not compared. */
  readonly events: readonly string[];
}

const VOLATILE = new Set(["uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "selfLink"]);
const TIMES = /^(startTime|completionTime|lastReconcileTime|lastUpdateTime|lastTransitionTime)$/;

/** Reads a job and all objects that belong to it. */
export async function snapshot(
  client: Client,
  namespace: string,
  kind: KindRef<JobObject>,
  name: string,
  others: readonly KindRef<KubeObject>[] = [],
): Promise<Snapshot> {
  const labelSelector = `training.kubeflow.org/job-name=${name}`;
  const job = await client.get(kind, `${namespace}/${name}`).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
  const [pods, services, events] = await Promise.all([
    client.list(Pod, { namespace, labelSelector }),
    client.list(Service, { namespace, labelSelector }),
    client.list(Event, { namespace, fieldSelector: `involvedObject.name=${name}` }),
  ]);
  const named = await Promise.all(
    [HorizontalPodAutoscaler, ...others].map(async (other) => {
      const { items } = await client.list(other as KindRef<AnyObject>, { namespace });
      return items.filter(({ metadata }) => metadata.name === name);
    }),
  );
  const texts = events.items.map(({ type, reason, message }) => `${type} ${reason} ${message}`);
  const plain = (objects: readonly KubeObject[]) =>
    objects.map((one) => normal(one, namespace)).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return {
    status: job ? normal(job.status, namespace) : "gone",
    pods: plain(pods.items).map(withPhaseOnly),
    services: plain(services.items).map(withSortedPorts),
    others: plain(named.flat()).map(({ status: _, ...rest }) => rest),
    events: [...new Set(texts)].map((text) => text.replaceAll(namespace, "NAMESPACE")).sort(),
  };
}

/** Without names and times that cannot be the same twice. */
function normal(value: unknown, namespace: string): Record<string, unknown> {
  const text = JSON.stringify(value ?? null, (key, inner: unknown) => {
    if (VOLATILE.has(key)) return undefined;
    if (TIMES.test(key)) return "TIME";
    return inner;
  });
  return JSON.parse(
    text.replaceAll(new RegExp(`\\b${namespace}\\b`, "g"), "NAMESPACE").replaceAll(/kube-api-access-\w+/g, "TOKEN"),
  ) as Record<string, unknown>;
}

function withPhaseOnly({ status, ...pod }: Record<string, unknown>): unknown {
  return { ...pod, phase: (status as { phase?: string }).phase };
}

/** Upstream writes them in an order that changes from run to run. */
function withSortedPorts({ status: _, ...service }: Record<string, unknown>): unknown {
  const spec = service["spec"] as { ports?: { name?: string }[] };
  return {
    ...service,
    spec: { ...spec, ports: spec.ports?.sort((a, b) => ((a.name ?? "") < (b.name ?? "") ? -1 : 1)) },
  };
}
