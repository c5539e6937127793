import type { ReconcileContext } from "konverge";
import { PersistentVolumeClaim, Pod, StatefulSet } from "konverge/kinds";
import type { Database } from "./database.ts";
import { ignoreDeleted } from "./ignore-missing.ts";
import { DATA } from "./names.ts";

type Cache = ReconcileContext["cache"];

/** The pods of a Database's servers. */
export function serverPods({ metadata }: Database, cache: Cache): Pod[] {
  const { namespace, name } = metadata;
  return cache
    .list(Pod, namespace)
    .filter(({ metadata: { labels } }) => labels?.["app"] === "database" && labels["database-name"] === name);
}

/** Whether no server runs, and no pod is created any more: the StatefulSet has observed that it has no replicas. */
export function areStopped(database: Database, cache: Cache): boolean {
  const { namespace, name } = database.metadata;
  const servers = cache.get(StatefulSet, `${namespace}/${name}`);
  const { metadata, spec, status } = servers ?? {};
  const isScaledDown = spec?.replicas === 0 && status?.observedGeneration === metadata?.generation && !status?.replicas;
  return isScaledDown && serverPods(database, cache).length === 0;
}

/** Whether the pod of a server is ready. */
export function isServerReady(database: Database, name: string, cache: Cache): boolean {
  const pod = serverPods(database, cache).find(({ metadata }) => metadata.name === name);
  return pod?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
}

/** Claims with data of servers other than this one. */
export function otherClaims(database: Database, primary: string, cache: Cache): PersistentVolumeClaim[] {
  const ofServers = new RegExp(`^${DATA}-${database.metadata.name}-\\d+$`);
  return cache
    .list(PersistentVolumeClaim, database.metadata.namespace)
    .filter(({ metadata }) => ofServers.test(metadata.name) && metadata.name !== `${DATA}-${primary}`);
}

/** Deletes claims of stopped servers, whose data are copied from the primary again. */
export async function deleteClaims(
  claims: readonly PersistentVolumeClaim[],
  { client }: Pick<ReconcileContext, "client">,
): Promise<void> {
  for (const { metadata } of claims) {
    const key = `${metadata.namespace}/${metadata.name}`;
    // Direct write: volumes of stopped servers are no children.
    await client.delete(PersistentVolumeClaim, key, { preconditions: { uid: metadata.uid! } }).catch(ignoreDeleted);
  }
}
