import { type KubeObject, TypedKind } from "konverge";
import type { LabelSelector } from "konverge/objects";
import { PORT } from "./container-layout.ts";

/** The Prometheus operator's kind; it need not be there. */
export const ServiceMonitor = new TypedKind<ServiceMonitor>({
  group: "monitoring.coreos.com",
  version: "v1",
  kind: "ServiceMonitor",
  plural: "servicemonitors",
  namespaced: true,
});
/** As much of it as is written here. */
export interface ServiceMonitor extends KubeObject {
  readonly spec: {
    readonly selector: LabelSelector;
    readonly endpoints: readonly { readonly port?: string | undefined; readonly path?: string | undefined }[];
  };
}

/** Lets Prometheus scrape the servers behind the Service with these labels. */
export function serviceMonitorFor(owner: KubeObject, name: string, labels: Readonly<Record<string, string>>) {
  return ServiceMonitor.draft({
    metadata: {
      name,
      namespace: owner.metadata.namespace,
      labels: { ...labels },
    },
    spec: { selector: { matchLabels: { ...labels } }, endpoints: [{ port: PORT.name, path: "/metrics" }] },
  });
}
