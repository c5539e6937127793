import { isNotFound, type KindRef, type KubeObject } from "@konverge/core";
import { Job, Pod } from "@konverge/kinds";
import type { App } from "./app.ts";
import type { Reconciliation } from "./reconciler.ts";
import { tolerant } from "./steps.ts";

/** A pod that an App controls, of the App's image and version. */
export function memberPod({ metadata, spec }: App, name: string) {
  const { namespace, uid = "" } = metadata;
  return Pod.draft({
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      labels: { app: metadata.name, version: spec.version },
      ownerReferences: [{ apiVersion: "example.com/v1", kind: "App", name: metadata.name, uid, controller: true }],
    },
    spec: { containers: [{ name: "db", image: spec.image ?? "", readinessProbe: { tcpSocket: { port: 5432 } } }] },
  });
}

/** A Job that an App controls, of this name or of one that the server makes up. Its pod is not tried again. */
export function ownedJob({ metadata, spec }: App, name: { name: string; generateName?: string }, args: string[] = []) {
  const { namespace, uid = "" } = metadata;
  return Job.draft({
    metadata: {
      ...name,
      ...(namespace !== undefined && { namespace }),
      labels: { app: metadata.name },
      ownerReferences: [{ apiVersion: "example.com/v1", kind: "App", name: metadata.name, uid, controller: true }],
    },
    spec: {
      backoffLimit: 0,
      template: {
        spec: { restartPolicy: "Never", containers: [{ name: "job", image: spec.image ?? "", args }] },
      },
    },
  });
}

/** An object as it is now. */
export async function live<T extends KubeObject>(
  { client, namespace }: Pick<Reconciliation, "client" | "namespace">,
  kind: KindRef<T>,
  name: string,
): Promise<T | undefined> {
  try {
    return await client.get(kind, `${namespace}/${name}`);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** The objects of an App, as they are now. */
export async function liveObjects<T extends KubeObject>(
  { client, namespace }: Reconciliation,
  kind: KindRef<T>,
  app: App,
): Promise<T[]> {
  const { items } = await client.list(kind, { namespace, labelSelector: `app=${app.metadata.name}` });
  return items
    .filter(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === app.metadata.uid))
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

/** Deletes this object, and none that has its name by now. */
export async function deleteExactly<T extends KubeObject>(
  { client, namespace }: Reconciliation,
  kind: KindRef<T>,
  { metadata: { name, uid = "" } }: T,
): Promise<void> {
  const options = { preconditions: { uid }, propagationPolicy: "Background" as const };
  await tolerant(client.delete(kind, `${namespace}/${name}`, options));
}

/** Whether a pod is a member that an App of this size has: those are numbered from 0. */
export function isMember({ metadata: { name } }: Pod, size: number): boolean {
  return Number(name.slice(name.lastIndexOf("-") + 1)) < size;
}

export function isReady({ metadata, status }: Pod): boolean {
  const isTrue = status?.conditions?.some((one) => one.type === "Ready" && one.status === "True");
  return isTrue === true && metadata.deletionTimestamp === undefined;
}

/** Whether none of its containers will run again. */
export function hasEnded({ status }: Pod): boolean {
  return status?.phase === "Failed" || status?.phase === "Succeeded";
}

export function hasCondition({ status }: Job, type: "Complete" | "Failed"): boolean {
  return status?.conditions?.some((one) => one.type === type && one.status === "True") ?? false;
}
