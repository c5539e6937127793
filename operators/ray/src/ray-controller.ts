import { cacheKind, controller, findCondition, ownedKind, permission, type ReconcileContext } from "konverge";
import {
  Deployment,
  Job,
  NetworkPolicy,
  Pod,
  Role,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
} from "konverge/kinds";
import { POD_PROBLEM_GRACE_MS, problemConditions, reportProblem, workloadProblem } from "konverge/pods";
import { isFaultTolerant } from "./gcs-fault-tolerance.ts";
import { tokenSecretsFor } from "./ray-auth.ts";
import { autoscalerChildren } from "./ray-autoscaler.ts";
import { CLUSTER, headPodFor, headServiceFor, NODE_TYPE, workerPodsFor } from "./ray-children.ts";
import { MULTIKUEUE, RayCluster } from "./ray-cluster.ts";
import type { RayMetrics } from "./ray-metrics.ts";
import { networkPoliciesFor } from "./ray-network-policy.ts";
import { rolloutOf } from "./ray-rollout.ts";
import { conditionsOf, statusOf } from "./ray-status.ts";
import { deletePod, REDIS_FINALIZER, removeKeys } from "./redis-cleanup.ts";

/** Upstream's own operator, by the name label of its Deployment. */
export const UPSTREAM_DEPLOYMENT = "app.kubernetes.io/name=kuberay-operator";
/** Milliseconds until it is checked whether upstream's operator is gone. */
export const LOOK_AGAIN = 300_000;

/** Why this operator leaves its objects alone; undefined if it does not. */
export function upstreamWarning({ cache }: ReconcileContext, kinds: string): string | undefined {
  const [upstream] = cache.list(Deployment);
  if (!upstream) return undefined;
  return `${upstream.metadata.namespace}/${upstream.metadata.name} reconciles ${kinds}; this operator ignores them`;
}

/** Whether the keys of a deleted cluster are removed from Redis. */
export interface RayClusterOptions {
  readonly redisCleanup: boolean;
}

/**
 * Keeps the head, its Service and the workers of each RayCluster. Pods that have ended are deleted and recreated; pods
 * of an older template are replaced.
 */
export function rayClusters(metrics: RayMetrics, { redisCleanup }: RayClusterOptions) {
  return controller(RayCluster, {
    owns: [
      ownedKind(Pod, { onImmutable: "recreate", labelSelector: CLUSTER }),
      Service,
      ServiceAccount,
      Role,
      RoleBinding,
      ownedKind(NetworkPolicy, { labelSelector: CLUSTER }),
      ownedKind(Secret, { labelSelector: CLUSTER }),
      ownedKind(Job, { labelSelector: CLUSTER }),
    ],
    watches: [cacheKind(Deployment, { labelSelector: UPSTREAM_DEPLOYMENT })],
    // What the autoscaler's role allows, the operator must be allowed itself.
    permissions: [
      permission(Pod, ["delete"], {
        why: "deletes the pods of each RayCluster that have ended or are of an older template",
      }),
      permission(RayCluster, ["get", "patch"], {
        forOthers: true,
        why: "grants them to the autoscaler of each RayCluster that has one",
      }),
    ],
    async reconcile(cluster, context) {
      const { observed, client, clock, events } = context;
      const warning = upstreamWarning(context, "RayClusters");
      if (warning) {
        events.warning("UpstreamOperator", warning);
        return { requeueAfter: LOOK_AGAIN };
      }
      metrics.clusters = () => context.cache.list(RayCluster);
      if (cluster.spec.managedBy === MULTIKUEUE) return {};
      const { spec } = cluster;
      const pods = observed.all(Pod);
      const head = headPodFor(cluster, pods, clock.now());
      const workers = (spec.workerGroupSpecs ?? []).flatMap((group) => workerPodsFor(cluster, group, pods));
      for (const pod of pods.filter(hasEnded)) {
        const { name } = pod.metadata;
        events.warning("PodEnded", `${name} has terminated (${pod.status?.phase}) and is recreated`);
        await deletePod(pod, client);
      }
      const wanted = [...(head ? [head] : []), ...workers];
      const { pods: children, replace } = rolloutOf(wanted, pods, spec.upgradeStrategy?.type);
      for (const pod of spec.suspend ? [] : replace) {
        events.normal("PodReplaced", `${pod.metadata.name} is replaced by one of the new template`);
        await deletePod(pod, client);
      }
      const seen = {
        head: pods.find(({ metadata }) => metadata.name === head?.metadata.name) ?? pods.find(isHead),
        workers: pods.filter(({ metadata }) => metadata.labels?.[NODE_TYPE] === "worker"),
        service: observed(headServiceFor(cluster)),
      };
      const conditions = conditionsOf(cluster, seen, workers.length);
      const isComplete = spec.suspend || conditions["Ready"]?.status === "True";
      const problem = isComplete ? undefined : workloadProblem({ pods, now: clock.now() });
      reportProblem(cluster, problem, events);
      const known = findCondition(cluster.status?.conditions, "RayClusterProvisioned");
      if (conditions["RayClusterProvisioned"]?.status === "True" && known?.status !== "True") {
        events.normal("Provisioned", `the head and ${workers.length} workers are ready`);
      }
      return {
        children: [
          ...tokenSecretsFor(cluster, context),
          ...networkPoliciesFor(cluster),
          ...autoscalerChildren(cluster),
          headServiceFor(cluster),
          ...(spec.suspend ? [] : children),
        ],
        status: statusOf(cluster, seen, wanted),
        conditions: { ...conditions, ...(problem && problemConditions(problem)) },
        // Too little room is a problem only when it lasts, and no event reports that.
        ...(!isComplete && { requeueAfter: POD_PROBLEM_GRACE_MS }),
      };
    },
    finalizer: REDIS_FINALIZER,
    needsCleanup: (cluster) => redisCleanup && isFaultTolerant(cluster),
    cleanup(cluster, context) {
      const warning = upstreamWarning(context, "RayClusters");
      if (warning) return { waitingFor: warning, requeueAfter: LOOK_AGAIN };
      return redisCleanup ? removeKeys(cluster, context) : undefined;
    },
  });
}

const isHead = ({ metadata }: Pod) => metadata.labels?.[NODE_TYPE] === "head";

function hasEnded({ metadata, status }: Pod): boolean {
  return !metadata.deletionTimestamp && (status?.phase === "Failed" || status?.phase === "Succeeded");
}
