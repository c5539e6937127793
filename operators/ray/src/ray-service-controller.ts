import { createHash } from "node:crypto";
import {
  cacheKind,
  controller,
  findCondition,
  permission,
  type ReconcileContext,
  type ReconcileResult,
} from "konverge";
import { Deployment, Pod, Service } from "konverge/kinds";
import { parseYaml } from "konverge/schema";
import type { RayFetch } from "./dashboard-request.ts";
import { tokenPermission } from "./ray-auth.ts";
import { CLUSTER, NODE_TYPE, SERVE, servePort } from "./ray-children.ts";
import { MULTIKUEUE, RayCluster } from "./ray-cluster.ts";
import { LOOK_AGAIN, UPSTREAM_DEPLOYMENT, upstreamWarning } from "./ray-controller.ts";
import type { RayMetrics } from "./ray-metrics.ts";
import { RayService } from "./ray-service.ts";
import { serveServiceName, servicesFor } from "./ray-service-children.ts";
import { activeCluster, currentCluster, planOf, retiredClusters, SERVE_CONFIG } from "./ray-service-plan.ts";
import { type ServedCluster, serviceConditionsOf, serviceStatusOf, suspendedConditions } from "./ray-service-status.ts";
import { isReady } from "./ray-status.ts";
import { deployApplications, isProxyHealthy, readApplications } from "./serve-applications.ts";

/** Milliseconds between two questions to a dashboard: while something is expected to change, and when all is well. */
const SOON = 2_000;
const LATER = 10_000;

/**
 * Serves the applications of each RayService, and replaces its cluster without downtime.
 *
 * Flow: a cluster is made from the spec; when its head is ready, the applications are sent to it; when all of them run and
 * one of its pods can serve, the Services select it, and the cluster that they selected before is deleted some time later.
 * A changed configuration of the applications is sent to the cluster that is there.
 *
 * Guarantees: which cluster is the active one is written in the Services alone, and what a cluster was sent is written on it,
 * so that all of it continues after a crash. A configuration can be sent twice, which changes nothing.
 */
export function rayServices(metrics: RayMetrics, fetch: RayFetch) {
  return controller(RayService, {
    owns: [RayCluster, Service],
    watches: [
      cacheKind(Pod, { labelSelector: CLUSTER }),
      cacheKind(Deployment, { labelSelector: UPSTREAM_DEPLOYMENT }),
    ],
    permissions: [
      tokenPermission,
      permission(Pod, ["patch"], { why: "labels the pods of each RayService that serve requests" }),
    ],
    async reconcile(service, context): Promise<ReconcileResult<RayService>> {
      const warning = upstreamWarning(context, "RayServices");
      if (warning) {
        context.events.warning("UpstreamOperator", warning);
        return { requeueAfter: LOOK_AGAIN };
      }
      metrics.services = () => context.cache.list(RayService);
      if (service.spec.managedBy === MULTIKUEUE) return {};
      if (service.spec.suspend) return suspended(context);
      return served(service, fetch, context);
    },
  });
}

function suspended({ observed }: ReconcileContext): ReconcileResult<RayService> {
  const left = observed.all(RayCluster).length + observed.all(Service).length;
  return { children: [], status: serviceStatusOf(undefined, undefined), conditions: suspendedConditions(left) };
}

async function served(
  service: RayService,
  fetch: RayFetch,
  context: ReconcileContext,
): Promise<ReconcileResult<RayService>> {
  const { observed, events, clock } = context;
  const clusters = observed.all(RayCluster);
  const { [CLUSTER]: selected = service.status?.activeServiceStatus?.rayClusterName } =
    observed(Service, serveServiceName(service))?.spec?.selector ?? {};
  const plan = planOf(service, clusters, selected);
  const before = plan.active && (await lookAt(plan.active, !plan.pending, service, fetch, context));
  const next = plan.pending?.live && (await lookAt(plan.pending.live, true, service, fetch, context));
  const isSwitched = next?.isReady && next.endpoints > 0;
  if (isSwitched) events.normal("ActiveClusterChanged", `requests go to RayCluster ${next.cluster.metadata.name}`);
  const active = isSwitched ? next : before;
  const retired = isSwitched && plan.active ? [...plan.retired, plan.active] : plan.retired;
  const name = plan.pending?.name ?? plan.leaving;
  const pending = isSwitched || !name ? undefined : { name, ...(next && { found: next }) };
  reportProblems(service, pending?.found ?? active, context);
  const isDone = !pending && active?.isReady === true && active.endpoints > 0;
  // Services stay, with their addresses, even if another client has deleted the cluster that they select.
  const selects = active?.cluster ?? (selected && lostCluster(service, selected));
  return {
    children: [
      ...(active ? [activeCluster(service, active.cluster, active.config)] : []),
      ...(pending && !plan.leaving ? [currentCluster(service, pending.name, next?.config)] : []),
      ...retiredClusters(service, retired, clock.now()),
      ...(selects ? servicesFor(service, selects) : []),
    ],
    status: serviceStatusOf(active, pending && (pending.found ?? pending.name)),
    conditions: serviceConditionsOf(service, active, pending),
    requeueAfter: isDone && retired.length === 0 ? LATER : SOON,
  };
}

const lostCluster = ({ metadata, spec }: RayService, name: string) =>
  RayCluster.new({ metadata: { name, namespace: metadata.namespace! }, spec: spec.rayClusterConfig });

/** Asks a cluster for its applications, sends them if it lacks them, and says whether it can serve. */
async function lookAt(
  cluster: RayCluster,
  isSent: boolean,
  service: RayService,
  fetch: RayFetch,
  context: ReconcileContext,
): Promise<ServedCluster> {
  const { name, annotations } = cluster.metadata;
  const endpoints = await countEndpoints(cluster, service, fetch, context);
  const known = annotations?.[SERVE_CONFIG];
  const base = { cluster, endpoints, isReady: false, ...(known && { config: known }) };
  if (findCondition(cluster.status?.conditions, "HeadPodReady")?.status !== "True") {
    const why = findCondition(cluster.status?.conditions, "Ready")?.message;
    return { ...base, waitsFor: `the head of RayCluster ${name}${why ? `: ${why}` : ""}` };
  }
  const { serveConfigV2 } = service.spec;
  const digest = serveConfigV2 && createHash("sha256").update(serveConfigV2).digest("hex").slice(0, 16);
  try {
    const applications = await readApplications(fetch, cluster, context);
    // A head that was restarted without fault tolerance knows of none.
    const isNews = digest && (known !== digest || Object.keys(applications).length === 0);
    if (isSent && isNews) {
      await deployApplications(fetch, cluster, parseYaml(serveConfigV2)[0] ?? {}, context);
      context.events.normal("UpdatedServeApplications", `the applications were sent to RayCluster ${name}`);
      return { ...base, config: digest, applications, waitsFor: `the applications on RayCluster ${name}` };
    }
    return { ...base, applications, ...judged(applications, name) };
  } catch (error) {
    const { message } = error as Error;
    return { ...base, waitsFor: message, problem: { reason: "DashboardUnreachable", message } };
  }
}

/** All that are reported have to run; without any there is nothing to serve. */
function judged(applications: NonNullable<ServedCluster["applications"]>, cluster: string): Partial<ServedCluster> {
  const all = Object.entries(applications);
  if (all.length === 0) return { waitsFor: `applications on RayCluster ${cluster}` };
  const behind = all.find(([, { status }]) => status !== "RUNNING");
  if (!behind) return { isReady: true };
  const [name, { status, message }] = behind;
  const text = `application ${name} is ${status}${message ? `: ${message}` : ""}`;
  const isBad = status === "DEPLOY_FAILED" || status === "UNHEALTHY";
  return { waitsFor: text, ...(isBad && { problem: { reason: "ApplicationFailed", message: text } }) };
}

/**
 * The pods that the Service can send requests to. A worker says so with its readiness; a head is ready before it serves, so
 * that its proxy is asked, and a label on it keeps the answer.
 */
async function countEndpoints(
  cluster: RayCluster,
  { spec }: RayService,
  fetch: RayFetch,
  context: ReconcileContext,
): Promise<number> {
  const { namespace, name } = cluster.metadata;
  const pods = context.cache
    .list(Pod, namespace)
    .filter(({ metadata }) => metadata.labels?.[CLUSTER] === name && !metadata.deletionTimestamp);
  let endpoints = 0;
  for (const pod of pods) {
    const { labels, uid } = pod.metadata;
    const address = pod.status?.podIP;
    let serves = labels?.[SERVE] === "true";
    if (labels?.[NODE_TYPE] === "head" && address) {
      const port = servePort(cluster);
      const isHealthy = !spec.excludeHeadPodFromServeSvc && (await isProxyHealthy(fetch, address, port, context));
      const label = String(isHealthy);
      if (labels[SERVE] !== label) {
        const merge = { metadata: { uid, labels: { [SERVE]: label } } };
        // Direct write: the pods belong to a RayCluster; only the label that leads requests to them is set here.
        await context.client.patch(Pod, `${namespace}/${pod.metadata.name}`, { merge });
      }
      serves = isHealthy;
    }
    if (serves && isReady(pod)) endpoints++;
  }
  return endpoints;
}

/** Once, when a problem appears or changes: the Degraded condition has what was reported before. */
function reportProblems({ status }: RayService, found: ServedCluster | undefined, { events }: ReconcileContext): void {
  const known = findCondition(status?.conditions, "Degraded");
  const { problem } = found ?? {};
  if (problem && (known?.status !== "True" || known.message !== problem.message))
    events.warning(problem.reason, problem.message);
}
