import { type Conditions, conditionFalse, conditionTrue, findCondition, type ReconcileResult } from "konverge";
import type { RayCluster } from "./ray-cluster.ts";
import type { RayService } from "./ray-service.ts";
import type { ServeApplications } from "./serve-applications.ts";

/** What was found out about a cluster of a service. */
export interface ServedCluster {
  readonly cluster: RayCluster;
  readonly applications?: ServeApplications;
  /** The digest of the configuration that it has. */
  readonly config?: string;
  /** All applications run, as the configuration says. */
  readonly isReady: boolean;
  /** How many of its pods can get requests. */
  readonly endpoints: number;
  /** What it waits for. */
  readonly waitsFor?: string;
  /** What will not pass by waiting alone. */
  readonly problem?: { readonly reason: string; readonly message: string };
}

type Status = NonNullable<ReconcileResult<RayService>["status"]>;

export function serviceStatusOf(
  active: ServedCluster | undefined,
  pending: ServedCluster | string | undefined,
): Status {
  const endpoints = active?.endpoints ?? 0;
  return {
    serviceStatus: endpoints > 0 ? "Running" : "",
    numServeEndpoints: endpoints,
    ...(active && { activeServiceStatus: partOf(active) }),
    ...(pending && {
      pendingServiceStatus: typeof pending === "string" ? { rayClusterName: pending } : partOf(pending),
    }),
  };
}

function partOf({ cluster, applications }: ServedCluster) {
  const { conditions: _c, observedGeneration: _o, ...rayClusterStatus } = cluster.status ?? {};
  return {
    rayClusterName: cluster.metadata.name,
    rayClusterStatus,
    ...(applications && { applicationStatuses: applications }),
  };
}

/** Upstream's conditions and reasons; Reconciling as long as requests do not get what the spec says. */
export function serviceConditionsOf(
  { status }: RayService,
  active: ServedCluster | undefined,
  pending: { readonly name: string; readonly found?: ServedCluster } | undefined,
): Conditions {
  const endpoints = active?.endpoints ?? 0;
  const before = findCondition(status?.conditions, "Ready");
  const wasReady = before?.status === "True" || before?.reason === "ZeroServeEndpoints";
  const waitsFor = pending ? (pending.found?.waitsFor ?? `RayCluster ${pending.name}`) : active?.waitsFor;
  const message = waitsFor ? `waiting for ${waitsFor}` : "waiting for pods that serve requests";
  const ready =
    endpoints > 0
      ? conditionTrue("NonZeroServeEndpoints", `${endpoints} pods serve requests`)
      : conditionFalse(wasReady ? "ZeroServeEndpoints" : "Initializing", message);
  const isDone = !pending && active?.isReady && endpoints > 0;
  const reason = active && pending ? "UpgradeInProgress" : active ? "Deploying" : "Initializing";
  const problem = pending?.found?.problem ?? active?.problem;
  return {
    Ready: ready,
    UpgradeInProgress: upgradeOf(active, pending?.name),
    Progressing: isDone ? conditionFalse("AsExpected") : conditionTrue(reason, message),
    Degraded: problem ? conditionTrue(problem.reason, problem.message) : conditionFalse("AsExpected"),
    // Otherwise it follows from the clusters and Services.
    ...(!isDone && { Reconciling: conditionTrue(reason, message) }),
    Suspending: undefined,
    Suspended: undefined,
  };
}

function upgradeOf(active: ServedCluster | undefined, pending: string | undefined) {
  if (!active) return conditionFalse("Initializing", "there is no active cluster yet");
  const { name } = active.cluster.metadata;
  if (!pending) return conditionFalse("NoPendingCluster", `${name} is the active cluster`);
  return conditionTrue("BothActivePendingClustersExist", `${pending} is to replace ${name}`);
}

/** While its objects are deleted, and afterwards. */
export function suspendedConditions(left: number): Conditions {
  const message = `${left} objects are still being deleted`;
  const isOver = left === 0;
  return {
    Ready: conditionFalse(
      isOver ? "SuspendComplete" : "SuspendInProgress",
      isOver ? "the service is suspended" : message,
    ),
    UpgradeInProgress: conditionFalse(isOver ? "SuspendComplete" : "SuspendInProgress"),
    Suspending: isOver ? conditionFalse("SuspendComplete") : conditionTrue("SuspendInProgress", message),
    Suspended: isOver ? conditionTrue("SuspendComplete") : conditionFalse("SuspendInProgress", message),
    Progressing: isOver ? conditionFalse("SuspendComplete") : conditionTrue("SuspendInProgress", message),
    Degraded: conditionFalse("AsExpected"),
    Reconciling: isOver ? undefined : conditionTrue("SuspendInProgress", message),
  };
}
