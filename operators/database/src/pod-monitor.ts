import { type KubeObject, TypedKind } from "konverge";
import type { LabelSelector } from "konverge/objects";
import type { Database } from "./database.ts";
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

/** Lets Prometheus scrape the exporters beside a database's servers, if there are any. */
export function podMonitorsFor(database: Database) {
  if (!database.spec.exporter) return [];
  return [
    PodMonitor.draft({
      metadata: metadataOf(database, database.metadata.name),
      spec: { selector: { matchLabels: labelsOf(database) }, podMetricsEndpoints: [{ port: "metrics" }] },
    }),
  ];
}
