import { findCondition, type ReconcileContext, type ReconcileResult } from "konverge";
import { Pod } from "konverge/kinds";
import { readJob, submitJob } from "./dashboard-jobs.ts";
import type { RayFetch } from "./dashboard-request.ts";
import { RayCluster } from "./ray-cluster.ts";
import type { RayJob } from "./ray-job.ts";
import {
  jobCluster,
  jobIdOf,
  type Outcome,
  outcomeOf,
  selectedCluster,
  sidecarState,
  submission,
  submitterFor,
} from "./ray-job-children.ts";

type Children = NonNullable<ReconcileResult<RayJob>["children"]>;

/** Milliseconds between two questions to a dashboard about a job. */
const ASK_AGAIN = 5_000;

/** How a try stands. */
export interface Submission {
  readonly phase: "Initializing" | "Waiting" | "Running";
  readonly message: string;
  readonly children: Children;
  readonly jobStatus?: "PENDING" | "RUNNING";
  readonly outcome?: Outcome;
  readonly requeueAfter?: number;
}

/** The cluster of a try: one that is made for it, or one that the job selects. */
export interface TryCluster {
  readonly name: string;
  readonly own?: ReturnType<typeof jobCluster>;
  readonly live: RayCluster | undefined;
}

export function clusterOf(job: RayJob, attempt: number, { observed, cache }: ReconcileContext): TryCluster {
  const selected = selectedCluster(job);
  if (selected) return { name: selected, live: cache.get(RayCluster, `${job.metadata.namespace}/${selected}`) };
  const own = jobCluster(job, attempt);
  return { name: own.metadata.name, own, live: observed(own) };
}

/** Submits a try in the way that the job asks for, unless it is submitted, and says how it stands. */
export async function submissionOf(
  job: RayJob,
  attempt: number,
  cluster: TryCluster,
  fetch: RayFetch,
  context: ReconcileContext,
): Promise<Submission> {
  const { submissionMode: mode } = job.spec;
  if (mode === "K8sJobMode") return byJob(job, attempt, cluster, context);
  if (mode === "SidecarMode") return besideHead(cluster, context);
  const notYet = lost(job, cluster) ?? waiting(cluster);
  if (notYet) return notYet;
  return mode === "HTTPMode"
    ? overHttp(job, attempt, cluster, fetch, context)
    : byUser(job, attempt, cluster, fetch, context);
}

/** The cluster has yet to become ready. One that was ready may lose workers while the job runs: Ray goes on with the others. */
function waiting({ name, live, own }: TryCluster): Submission | undefined {
  if (live?.status?.state === "ready") return undefined;
  const children = own ? [own] : [];
  if (!live && !own) return { phase: "Initializing", message: `there is no RayCluster ${name}`, children };
  const why = findCondition(live?.status?.conditions, "Ready")?.message || "its pods are being created";
  return { phase: "Initializing", message: `RayCluster ${name} is not ready: ${why}`, children };
}

function byJob(job: RayJob, attempt: number, cluster: TryCluster, { observed }: ReconcileContext): Submission {
  const target = (cluster.own ?? cluster.live) as RayCluster | undefined;
  if (!target) return lost(job, cluster) ?? waiting(cluster)!;
  const submitter = submitterFor(job, attempt, target);
  const submitted = observed(submitter);
  const notYet = submitted ? undefined : waiting(cluster);
  if (notYet) return notYet;
  const outcome = outcomeOf(submitted);
  return {
    phase: "Running",
    jobStatus: submitted?.status?.active ? "RUNNING" : "PENDING",
    message: `job ${submitter.metadata.name} submits it`,
    children: [...(cluster.own ? [cluster.own] : []), submitter],
    ...(outcome && { outcome }),
  };
}

/** The container beside the head may be at its end before the last worker is ready: a job is not over before it runs. */
function besideHead(cluster: TryCluster, { cache }: ReconcileContext): Submission {
  const { live } = cluster;
  const notYet = waiting(cluster);
  if (notYet) return notYet;
  const pod = live?.status?.head?.podName;
  const state = sidecarState(pod ? cache.get(Pod, `${live!.metadata.namespace}/${pod}`) : undefined);
  const outcome = typeof state === "object" ? state : undefined;
  return {
    phase: "Running",
    jobStatus: state === "running" ? "RUNNING" : "PENDING",
    message: `a container of pod ${pod} submits it`,
    children: [cluster.own!],
    ...(outcome && { outcome }),
  };
}

function overHttp(
  job: RayJob,
  attempt: number,
  cluster: TryCluster,
  fetch: RayFetch,
  context: ReconcileContext,
): Promise<Submission> {
  return asked(job, cluster, async (live) => {
    const known = await readJob(fetch, live, jobIdOf(job, attempt), context);
    if (!known) await submitJob(fetch, live, submission(job, attempt), context);
    return known ?? { status: "PENDING" };
  });
}

/** A user submits the job, and says under which ID. */
async function byUser(
  job: RayJob,
  attempt: number,
  cluster: TryCluster,
  fetch: RayFetch,
  context: ReconcileContext,
): Promise<Submission> {
  const message = `submit a job to RayCluster ${cluster.name}, and set spec.jobId to its submission ID`;
  const children = cluster.own ? [cluster.own] : [];
  if (!job.spec.jobId) return { phase: "Waiting", message, children };
  return asked(job, cluster, async (live) => {
    const known = await readJob(fetch, live, jobIdOf(job, attempt), context);
    if (!known) throw new Error(`RayCluster ${cluster.name} has no job ${job.spec.jobId}`);
    return known;
  });
}

/** What the dashboard says about the job. While it cannot be asked, the job stays as it was. */
async function asked(
  job: RayJob,
  { own, live, name }: TryCluster,
  ask: (live: RayCluster) => ReturnType<typeof readJob>,
): Promise<Submission> {
  const base = { children: own ? [own] : [], requeueAfter: ASK_AGAIN };
  try {
    const { status, message } = (await ask(live!))!;
    const running = { ...base, phase: "Running" as const, message: message ?? `it runs on RayCluster ${name}` };
    if (status === "PENDING" || status === "RUNNING") return { ...running, jobStatus: status };
    const why = status === "SUCCEEDED" ? {} : { reason: "AppFailed" as const, message: message ?? "the job failed" };
    return { ...running, outcome: { jobStatus: status, ...why } };
  } catch (error) {
    const { message } = error as Error;
    if (job.status?.jobDeploymentStatus !== "Running") {
      const phase = job.spec.submissionMode === "InteractiveMode" ? "Waiting" : "Initializing";
      return { ...base, phase, message };
    }
    const { jobStatus } = job.status;
    return { ...base, phase: "Running", message, jobStatus: jobStatus === "RUNNING" ? "RUNNING" : "PENDING" };
  }
}

/** A selected cluster that is deleted takes the job with it. */
function lost({ status }: RayJob, { name, live, own }: TryCluster): Submission | undefined {
  if (live || own || status?.jobDeploymentStatus !== "Running") return undefined;
  const message = `RayCluster ${name} was deleted while the job ran`;
  return { phase: "Running", message, children: [], outcome: { jobStatus: "FAILED", reason: "AppFailed", message } };
}
