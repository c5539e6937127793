import { type KubeObject, ownerReference, type ReconcileContext, TypedKind } from "konverge";
import { deepEqual, gvkOf, type LabelSelector } from "konverge/objects";
import type { Database } from "./database.ts";
import { ignoreMissing } from "./ignore-missing.ts";
import { labelsOf, metadataOf } from "./names.ts";

/** The Prometheus operator's kind; it need not be there. */
export const PodMonitor = new TypedKind<PodMonitor>({
  group: "monitoring.coreos.com",
  version: "v1",
  kind: "PodMonitor",
  plural: "podmonitors",
  namespaced: true,
});
/** As much of it as is written here. */
export interface PodMonitor extends KubeObject {
  readonly spec: {
    readonly selector: LabelSelector;
    readonly podMetricsEndpoints: readonly { readonly port?: string | undefined }[];
  };
}

/** The CRD that shows whether the Prometheus operator is installed. */
export const POD_MONITOR_CRD = `${PodMonitor.plural}.${PodMonitor.group}`;

/** Lets Prometheus scrape the exporters beside a database's servers. */
function podMonitorFor(database: Database) {
  return PodMonitor.draft({
    metadata: {
      ...metadataOf(database, database.metadata.name),
      ownerReferences: [ownerReference(gvkOf(database), database)],
    },
    spec: { selector: { matchLabels: labelsOf(database) }, podMetricsEndpoints: [{ port: "metrics" }] },
  });
}

/** Writes it if it is not as it should be; takes it away when there are no exporters any more. */
export async function keepPodMonitor(database: Database, { client }: Pick<ReconcileContext, "client">): Promise<void> {
  const key = `${database.metadata.namespace}/${database.metadata.name}`;
  const live = await client.get(PodMonitor, key).catch(ignoreMissing);
  if (!database.spec.exporter) {
    if (live) await client.delete(PodMonitor, key).catch(ignoreMissing);
    return;
  }
  const wanted = podMonitorFor(database);
  if (!live || !deepEqual(live.spec, wanted.spec)) await client.apply(PodMonitor, wanted, { force: true });
}
