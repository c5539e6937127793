import {
  ApiError,
  isAlreadyExists,
  isNotFound,
  ownerReference,
  type PendingCleanup,
  type ReconcileContext,
} from "konverge";
import type { Client } from "konverge/client";
import { Job, Pod } from "konverge/kinds";
import { truncatedName } from "konverge/objects";
import { restrictedPodSpec } from "konverge/pods";
import { isFaultTolerant, storageNamespaceOf } from "./gcs-fault-tolerance.ts";
import { headPodFor, NODE_TYPE } from "./ray-children.ts";
import { RayCluster } from "./ray-cluster.ts";

/** As upstream calls it: a cluster that it has made can be deleted here. */
export const REDIS_FINALIZER = "ray.io/gcs-ft-redis-cleanup-finalizer";
/** On a cluster: after how many seconds it is deleted even if its keys could not be. */
const TIMEOUT_ANNOTATION = "ray.io/gcs-ft-deletion-timeout";
const TIMEOUT_SECONDS = 300;
/** The type of the cleanup Job's pod, beside head and worker. */
const CLEANUP = "redis-cleanup";
const RESOURCES = { cpu: "200m", memory: "256Mi" };

/**
 * Removes the keys of a deleted cluster from Redis.
 *
 * Flow: the pods are deleted, since a head that is at work would write keys again; when the head has ended, a Job of its image
 * removes them; when the Job has ended, the cluster goes. Each step follows from what exists, so that it continues after a crash.
 *
 * Caveat: a Redis that does not answer must not hold the cluster forever. After the time-out, and when the Job fails, the
 * cluster goes, and an event names what is left.
 */
export async function removeKeys(cluster: RayCluster, context: ReconcileContext): Promise<PendingCleanup | undefined> {
  if (!isFaultTolerant(cluster)) return undefined;
  const { observed, client, clock } = context;
  // The pod of the cleanup Job has the labels of the cluster as well.
  const pods = observed.all(Pod).filter(({ metadata }) => metadata.labels?.[NODE_TYPE] !== CLEANUP);
  for (const pod of pods.filter(({ metadata }) => !metadata.deletionTimestamp)) await deletePod(pod, client);
  const left = deadlineOf(cluster) - clock.now();
  if (left <= 0) return abandoned(cluster, "the deletion took too long", context);
  const head = pods.find(({ metadata }) => metadata.labels?.[NODE_TYPE] === "head");
  if (head) return { waitingFor: `the head ${head.metadata.name} to stop`, requeueAfter: left };
  const job = cleanupJobFor(cluster);
  const known = observed(job);
  if (!known) {
    // A cache that is late still shows the cluster after its Job has gone with it: the Job would be created and deleted in turn.
    if (!(await isThere(cluster, client))) return undefined;
    try {
      // Direct writes: the owner is being deleted, so that this Job cannot be one of its children.
      await client.create(Job, job);
      context.events.normal("CreatedRedisCleanupJob", `job ${job.metadata.name} removes the cluster's keys from Redis`);
    } catch (error) {
      // Nothing can be created in a namespace that is being deleted, which must not wait for this.
      if (isTerminating(error)) return abandoned(cluster, "the namespace is being deleted", context);
      if (!isAlreadyExists(error)) throw error;
    }
  }
  const ended = known?.status?.conditions?.find(
    ({ type, status }) => status === "True" && (type === "Complete" || type === "Failed"),
  );
  if (!ended) return { waitingFor: `job ${job.metadata.name} to remove the keys from Redis`, requeueAfter: left };
  if (ended.type === "Failed") return abandoned(cluster, `job ${job.metadata.name} failed: ${ended.message}`, context);
  return undefined;
}

async function isThere({ metadata: { name, namespace, uid } }: RayCluster, client: Client): Promise<boolean> {
  try {
    return (await client.get(RayCluster, `${namespace}/${name}`)).metadata.uid === uid;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

function isTerminating(error: unknown): boolean {
  return error instanceof ApiError && !!error.details?.causes?.some(({ reason }) => reason === "NamespaceTerminating");
}

function abandoned(cluster: RayCluster, why: string, { events }: ReconcileContext): undefined {
  events.warning("RedisCleanupFailed", `keys of ${storageNamespaceOf(cluster)} may be left in Redis: ${why}`);
}

function deadlineOf({ metadata }: RayCluster): number {
  const given = Number(metadata.annotations?.[TIMEOUT_ANNOTATION]);
  const seconds = Number.isInteger(given) && given > 0 ? given : TIMEOUT_SECONDS;
  return Date.parse(metadata.deletionTimestamp ?? "") + 1000 * seconds;
}

export async function deletePod({ metadata: { name, namespace, uid } }: Pod, client: Client): Promise<void> {
  await client.delete(Pod, `${namespace}/${name}`, { preconditions: { uid: uid! } }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}

/** A pod like the head's, with its variables and volumes, that removes the keys instead of starting Ray. */
export function cleanupJobFor(cluster: RayCluster) {
  const { name, namespace } = cluster.metadata;
  const { metadata, spec } = headPodFor(cluster)!;
  const {
    livenessProbe: _l,
    readinessProbe: _r,
    startupProbe: _s,
    lifecycle: _c,
    ports: _p,
    ...ray
  } = spec!.containers[0]!;
  const labels = { ...metadata.labels, [NODE_TYPE]: CLEANUP };
  const annotations = metadata.annotations ?? {};
  return Job.draft({
    metadata: {
      name: truncatedName(name, CLEANUP),
      namespace: namespace!,
      labels,
      annotations,
      // A deletion in the foreground would remove a child that blocks it before it has run.
      ownerReferences: [ownerReference(RayCluster, cluster, { blockOwnerDeletion: false })],
    },
    spec: {
      backoffLimit: 0,
      activeDeadlineSeconds: TIMEOUT_SECONDS,
      template: {
        metadata: { labels, annotations },
        spec: restrictedPodSpec({
          ...spec!,
          restartPolicy: "Never",
          containers: [
            {
              ...ray,
              args: [`python -c "${SCRIPT}"`],
              env: [
                ...(ray.env ?? []),
                { name: "RAY_redis_db_connect_retries", value: "120" },
                { name: "RAY_redis_db_connect_wait_milliseconds", value: "500" },
              ],
              resources: { requests: RESOURCES, limits: RESOURCES },
            },
          ],
        }),
      },
    },
  });
}

/** Only releases of Ray since 2.41 know the parameter `username`. */
const SCRIPT = [
  "import os, sys",
  "from urllib.parse import urlparse",
  "from ray._private.gcs_utils import cleanup_redis_storage",
  "first = os.environ.get('RAY_REDIS_ADDRESS', '').split(',')[0]",
  "url = urlparse(first if '://' in first else 'redis://' + first)",
  "user = os.environ.get('REDIS_USERNAME') or url.username",
  "given = dict(username=user) if user else dict()",
  "password = os.environ.get('REDIS_PASSWORD') or url.password or ''",
  "done = cleanup_redis_storage(host=url.hostname, port=url.port or 6379, password=password, use_ssl=url.scheme == 'rediss', storage_namespace=os.environ['RAY_external_storage_namespace'], **given)",
  "sys.exit(0 if done else 1)",
].join("; ");
