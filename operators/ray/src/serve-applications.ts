import type { ReconcileContext } from "konverge";
import { dashboardRequest, type RayFetch, shortened } from "./dashboard-request.ts";
import { dashboardAddress } from "./ray-children.ts";
import type { RayCluster } from "./ray-cluster.ts";

/** What Ray Serve reports about its applications, by their names. */
export type ServeApplications = Record<
  string,
  {
    status: string;
    message?: string;
    serveDeploymentStatuses?: Record<string, { status: string; message?: string }>;
  }
>;

/** Milliseconds that a dashboard has to accept a configuration, before which it starts Ray Serve, and a proxy to answer. */
const DEPLOY_TIMEOUT = 60_000;
const PROBE_TIMEOUT = 2_000;

interface Reported {
  status?: string;
  message?: string;
  deployments?: Record<string, { status?: string; message?: string }>;
}

/** The applications of a cluster as they are now. */
export async function readApplications(
  fetch: RayFetch,
  cluster: RayCluster,
  context: ReconcileContext,
): Promise<ServeApplications> {
  const url = `${applicationsUrl(cluster)}?api_type=declarative`;
  const text = await dashboardRequest(fetch, { method: "GET", url, cluster }, context);
  const { applications = {} } = JSON.parse(text) as { applications?: Record<string, Reported> };
  return Object.fromEntries(
    Object.entries(applications).map(([name, { status = "", message, deployments = {} }]) => [
      name || "default",
      {
        status,
        ...(message && { message: shortened(message) }),
        serveDeploymentStatuses: Object.fromEntries(
          Object.entries(deployments).map(([deployment, one]) => [
            deployment,
            { status: one.status ?? "", ...(one.message && { message: shortened(one.message) }) },
          ]),
        ),
      },
    ]),
  );
}

/** Replaces the applications of a cluster by those of a configuration. The same one again changes nothing. */
export async function deployApplications(
  fetch: RayFetch,
  cluster: RayCluster,
  config: unknown,
  context: ReconcileContext,
): Promise<void> {
  const url = applicationsUrl(cluster);
  await dashboardRequest(fetch, { method: "PUT", url, body: config, cluster, timeout: DEPLOY_TIMEOUT }, context);
}

/** Whether the proxy of a pod takes requests. */
export async function isProxyHealthy(
  fetch: RayFetch,
  address: string,
  port: number,
  context: ReconcileContext,
): Promise<boolean> {
  const host = address.includes(":") ? `[${address}]` : address;
  const url = `http://${host}:${port}/-/healthz`;
  return dashboardRequest(fetch, { method: "GET", url, timeout: PROBE_TIMEOUT }, context).then(
    () => true,
    () => false,
  );
}

const applicationsUrl = (cluster: RayCluster) => `http://${dashboardAddress(cluster)}/api/serve/applications/`;
