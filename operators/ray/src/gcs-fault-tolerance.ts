import type { EnvVar } from "konverge/kinds";
import type { RayCluster } from "./ray-cluster.ts";

/** On a cluster: the older way to request fault tolerance, with RAY_REDIS_ADDRESS in the head's container. On a head: it has it. */
export const ENABLED = "ray.io/ft-enabled";
/** On a head, and with the older way on a cluster: the prefix of its keys in Redis. */
export const STORAGE_NAMESPACE = "ray.io/external-storage-namespace";
/** Seconds for which a worker waits for another head before it exits. A new head is usually there after two minutes. */
const RECONNECT_SECONDS = "600";

/** Whether the head's state is in Redis. */
export function isFaultTolerant({ metadata, spec }: RayCluster): boolean {
  return spec.gcsFaultToleranceOptions !== undefined || metadata.annotations?.[ENABLED]?.toLowerCase() === "true";
}

/** The prefix of a cluster's keys: two clusters with the same one would share their state. */
export function storageNamespaceOf({ metadata, spec }: RayCluster): string {
  const { externalStorageNamespace } = spec.gcsFaultToleranceOptions ?? {};
  return externalStorageNamespace || metadata.annotations?.[STORAGE_NAMESPACE] || metadata.uid || "";
}

export function headAnnotations(cluster: RayCluster): Record<string, string> {
  if (!isFaultTolerant(cluster)) return {};
  return { [ENABLED]: "true", [STORAGE_NAMESPACE]: storageNamespaceOf(cluster) };
}

/** Parameters of the head's `ray start`. The shell replaces the names of the variables, and splits nothing in quotes. */
export function redisParameters({ spec }: RayCluster): Record<string, string> {
  const { redisUsername, redisPassword } = spec.gcsFaultToleranceOptions ?? {};
  return {
    ...(redisUsername && { "redis-username": '"$REDIS_USERNAME"' }),
    ...(redisPassword && { "redis-password": '"$REDIS_PASSWORD"' }),
  };
}

export function faultToleranceVariables(cluster: RayCluster, type: "head" | "worker"): EnvVar[] {
  if (!isFaultTolerant(cluster)) return [];
  if (type === "worker") return [{ name: "RAY_gcs_rpc_server_reconnect_timeout_s", value: RECONNECT_SECONDS }];
  const namespace = { name: "RAY_external_storage_namespace", value: storageNamespaceOf(cluster) };
  const { gcsFaultToleranceOptions: options, headGroupSpec } = cluster.spec;
  const given = headGroupSpec.rayStartParams["redis-password"];
  // The older way has the password in the parameters, where the clean-up does not find it.
  if (!options) return given === undefined ? [namespace] : [namespace, { name: "REDIS_PASSWORD", value: given }];
  const { redisAddress = "", redisUsername, redisPassword } = options;
  return [
    namespace,
    { name: "RAY_REDIS_ADDRESS", value: redisAddress },
    ...(redisUsername ? [{ name: "REDIS_USERNAME", ...redisUsername }] : []),
    ...(redisPassword ? [{ name: "REDIS_PASSWORD", ...redisPassword }] : []),
  ];
}
