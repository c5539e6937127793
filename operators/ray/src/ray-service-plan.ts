import { templateHash, truncatedName } from "konverge/objects";
import { RayCluster } from "./ray-cluster.ts";
import { decidedSpec, LONGEST_CLUSTER, originLabels } from "./ray-origin.ts";
import type { RayService } from "./ray-service.ts";

/** On a cluster: what it was made from, without the sizes of its groups, and the number of groups at that time. */
const SPEC = "konverge.dev/cluster-spec";
const GROUPS = "konverge.dev/worker-groups";
/** On a cluster: the digest of the configuration that Ray Serve has accepted there. */
export const SERVE_CONFIG = "konverge.dev/serve-config";
/** On a cluster: since when it is neither the active nor the pending one. */
const REPLACED_AT = "konverge.dev/replaced-at";
const DELETION_DELAY_SECONDS = 60;

/** The clusters of a service by what they are for. */
export interface ClusterPlan {
  /** It gets the requests. */
  readonly active?: RayCluster;
  /** It is to replace the active one; without `live` it has yet to be created. */
  readonly pending?: { readonly name: string; readonly live?: RayCluster };
  readonly retired: readonly RayCluster[];
  /** A cluster that has the name of the next one and is still being deleted. */
  readonly leaving?: string;
}

/**
 * Which cluster is the active one is written in the Services: `selected` is the name that they select. A cluster stays as long
 * as the spec differs from what it was made from in the sizes of its groups and in groups that were added at the end; otherwise
 * another one is made beside it. Its name follows from the spec, so that a crash does not double it, and a spec that is changed
 * back finds the cluster that it had.
 */
export function planOf(
  service: RayService,
  clusters: readonly RayCluster[],
  selected: string | undefined,
): ClusterPlan {
  const standing = clusters.filter(({ metadata }) => !metadata.deletionTimestamp);
  const active = standing.find(({ metadata }) => metadata.name === selected);
  const rest = standing.filter((one) => one !== active);
  const isKept = active && (fits(active, service) || service.spec.upgradeStrategy?.type === "None");
  if (isKept) return { active, retired: rest };
  const live = rest.find((one) => fits(one, service));
  const retired = rest.filter((one) => one !== live);
  const base = { ...(active && { active }), retired };
  if (live) return { ...base, pending: { name: live.metadata.name, live } };
  const { name, leaving } = freeName(service, clusters);
  return leaving ? { ...base, leaving } : { ...base, pending: { name } };
}

/** Two specs can have the same name in turn: one with a group less than the cluster that was made from it has now. */
function freeName({ metadata, spec }: RayService, clusters: readonly RayCluster[]): { name: string; leaving?: string } {
  for (let count = 0; ; count++) {
    const hash = templateHash(comparable(spec.rayClusterConfig), count || undefined);
    const name = truncatedName(metadata.name, hash, LONGEST_CLUSTER);
    const known = clusters.find((one) => one.metadata.name === name);
    if (!known) return { name };
    if (known.metadata.deletionTimestamp) return { name, leaving: name };
  }
}

/** The mark tells a cluster that another client has changed; without it, one whose mark another client has changed. */
function fits({ metadata, spec: live }: RayCluster, { spec }: RayService): boolean {
  const { [SPEC]: hash, [GROUPS]: groups } = metadata.annotations ?? {};
  const wanted = (count: number) => templateHash(comparable(spec.rayClusterConfig, count));
  return (
    hash === wanted(Number(groups)) || templateHash(comparable(live)) === wanted(live.workerGroupSpecs?.length ?? 0)
  );
}

/** What makes another cluster necessary, of the first groups. */
function comparable({ workerGroupSpecs = [], suspend: _, ...spec }: RayCluster["spec"], groups?: number) {
  return {
    ...spec,
    workerGroupSpecs: workerGroupSpecs
      .slice(0, groups)
      .map(({ replicas: _r, minReplicas: _n, maxReplicas: _x, scaleStrategy: _s, ...group }) => group),
    // Fewer groups than there were are not the same as those.
    ...(groups !== undefined && workerGroupSpecs.length < groups && { missing: groups - workerGroupSpecs.length }),
  };
}

/** The cluster of a service with this name, as the service's spec says now. */
export function currentCluster(service: RayService, name: string, served: string | undefined) {
  const { rayClusterConfig } = service.spec;
  return clusterDraft(service, name, rayClusterConfig, {
    [SPEC]: templateHash(comparable(rayClusterConfig)),
    [GROUPS]: String(rayClusterConfig.workerGroupSpecs?.length ?? 0),
    ...(served && { [SERVE_CONFIG]: served }),
  });
}

/** A cluster that stays as it is, whatever the service's spec says now. */
function unchangedCluster(service: RayService, live: RayCluster, marks: Record<string, string>) {
  const { annotations = {} } = live.metadata;
  const kept = [SPEC, GROUPS, SERVE_CONFIG].filter((name) => annotations[name] !== undefined);
  const own = Object.fromEntries(kept.map((name) => [name, annotations[name]!]));
  return clusterDraft(service, live.metadata.name, live.spec, { ...own, ...marks });
}

/** The active cluster: it follows the spec as far as it can without being replaced. */
export function activeCluster(service: RayService, live: RayCluster, served: string | undefined) {
  if (fits(live, service)) return currentCluster(service, live.metadata.name, served);
  return unchangedCluster(service, live, served ? { [SERVE_CONFIG]: served } : {});
}

/** A cluster that is no longer used, until its time is over. */
export function retiredClusters(service: RayService, live: readonly RayCluster[], now: number) {
  const { rayClusterDeletionDelaySeconds: delay = DELETION_DELAY_SECONDS } = service.spec;
  return live.flatMap((cluster) => {
    const since = Date.parse(cluster.metadata.annotations?.[REPLACED_AT] ?? "");
    const from = Number.isNaN(since) ? now : since;
    if (from + 1000 * delay <= now) return [];
    return [unchangedCluster(service, cluster, { [REPLACED_AT]: new Date(from).toISOString() })];
  });
}

function clusterDraft(
  { metadata }: RayService,
  name: string,
  spec: RayCluster["spec"],
  annotations: Record<string, string>,
) {
  const labels = originLabels("RayService", metadata.name);
  return RayCluster.draft({
    metadata: { name, namespace: metadata.namespace!, labels, annotations },
    spec: decidedSpec(spec),
  });
}
