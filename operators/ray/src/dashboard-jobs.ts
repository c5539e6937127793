import type { ReconcileContext } from "konverge";
import { DashboardError, dashboardRequest, type RayFetch, shortened } from "./dashboard-request.ts";
import { dashboardAddress } from "./ray-children.ts";
import type { RayCluster } from "./ray-cluster.ts";

/** A job as Ray knows it. */
export interface ReportedJob {
  readonly status: "PENDING" | "RUNNING" | "STOPPED" | "SUCCEEDED" | "FAILED";
  readonly message?: string;
}

const jobsUrl = (cluster: RayCluster) => `http://${dashboardAddress(cluster)}/api/jobs/`;

/** A job of a cluster by its submission ID; undefined if the cluster does not know it. */
export async function readJob(
  fetch: RayFetch,
  cluster: RayCluster,
  id: string,
  context: ReconcileContext,
): Promise<ReportedJob | undefined> {
  try {
    const url = `${jobsUrl(cluster)}${encodeURIComponent(id)}`;
    const answer = JSON.parse(await dashboardRequest(fetch, { method: "GET", url, cluster }, context)) as ReportedJob;
    return { status: answer.status, ...(answer.message && { message: shortened(answer.message) }) };
  } catch (error) {
    if (error instanceof DashboardError && error.status === 404) return undefined;
    throw error;
  }
}

/** Submits a job. One with the same submission ID must not be there. */
export async function submitJob(
  fetch: RayFetch,
  cluster: RayCluster,
  body: unknown,
  context: ReconcileContext,
): Promise<void> {
  await dashboardRequest(fetch, { method: "POST", url: jobsUrl(cluster), body, cluster }, context);
}
