import { isNotFound, type KubeObject, ownerReference, type ReconcileContext, TypedKind } from "konverge";
import { deepEqual, gvkOf, type LabelSelector } from "konverge/objects";
import { PORT } from "./inference-server.ts";

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

/** The CRD that shows whether the Prometheus operator is installed. */
export const SERVICE_MONITOR_CRD = `${ServiceMonitor.plural}.${ServiceMonitor.group}`;

/** Lets Prometheus scrape the servers behind the Service with these labels. */
export function serviceMonitorFor(owner: KubeObject, name: string, labels: Readonly<Record<string, string>>) {
  return ServiceMonitor.draft({
    metadata: {
      name,
      namespace: owner.metadata.namespace,
      labels: { ...labels },
      ownerReferences: [ownerReference(gvkOf(owner), owner)],
    },
    spec: { selector: { matchLabels: { ...labels } }, endpoints: [{ port: PORT.name, path: "/metrics" }] },
  });
}

/** Writes it if it is not as it should be. */
export async function keepServiceMonitor(
  wanted: ServiceMonitor,
  { client }: Pick<ReconcileContext, "client">,
): Promise<void> {
  const { name, namespace } = wanted.metadata;
  const live = await client.get(ServiceMonitor, `${namespace}/${name}`).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  if (live && deepEqual(live.spec, wanted.spec)) return;
  await client.apply(ServiceMonitor, wanted, { force: true });
}
