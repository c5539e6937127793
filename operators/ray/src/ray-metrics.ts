import { findCondition, type KubeObject } from "konverge";
import { Gauge, type Registry } from "prom-client";
import { MULTIKUEUE, type RayCluster } from "./ray-cluster.ts";
import type { RayJob } from "./ray-job.ts";
import { originKind } from "./ray-origin.ts";
import type { RayService } from "./ray-service.ts";

/** One value of a series, and its labels beside namespace, name and uid. */
interface Sample {
  readonly value: number;
  readonly labels?: Readonly<Record<string, string>>;
}

/**
 * What this operator exports about its objects, besides what every controller exports: KubeRay's metrics under their names, and
 * `ray_operator_…` for what KubeRay does not export.
 *
 * All of it follows from the objects as the cache has them at each scrape. Nothing is counted or remembered, so a restart of
 * the operator changes no value, and a deleted object has none.
 */
export class RayMetrics {
  clusters: () => readonly RayCluster[] = () => [];
  jobs: () => readonly RayJob[] = () => [];
  services: () => readonly RayService[] = () => [];

  constructor(registry: Registry) {
    const gaugesOf =
      <T extends KubeObject>(objects: () => readonly T[]) =>
      (name: string, help: string, sample: (object: T) => Sample | undefined, ...labels: string[]) =>
        new Gauge({
          name,
          help,
          labelNames: ["namespace", "name", "uid", ...labels],
          registers: [registry],
          collect() {
            this.reset();
            for (const object of objects()) {
              const { namespace = "", name: of, uid = "" } = object.metadata;
              const found = sample(object);
              if (found) this.set({ namespace, name: of, uid, ...found.labels }, found.value);
            }
          },
        });
    clusterGauges(gaugesOf(() => this.clusters()));
    jobGauges(gaugesOf(() => this.jobs()));
    serviceGauges(gaugesOf(() => this.services()));
  }
}

type Declare<T> = (
  name: string,
  help: string,
  sample: (object: T) => Sample | undefined,
  ...labels: string[]
) => Gauge<string>;

function clusterGauges(gauge: Declare<RayCluster>): void {
  /** What is not meant to run is not missing. */
  const running =
    (value: (status: NonNullable<RayCluster["status"]>) => number) =>
    ({ spec, status }: RayCluster) =>
      status && !spec.suspend ? { value: value(status) } : undefined;
  gauge(
    "kuberay_cluster_info",
    "1 for each RayCluster.",
    (cluster) => ({ value: 1, labels: { owner_kind: originKind(cluster) ?? "None" } }),
    "owner_kind",
  );
  gauge(
    "kuberay_cluster_condition_provisioned",
    "1, with whether all pods of the RayCluster have been ready once.",
    ({ status }) => conditionSample(status, "RayClusterProvisioned"),
    "condition",
  );
  gauge(
    "kuberay_cluster_provisioned_duration_seconds",
    "Seconds from the creation of the RayCluster until all its pods were ready for the first time.",
    ({ metadata, status }) => {
      const provisioned = findCondition(status?.conditions, "RayClusterProvisioned");
      if (provisioned?.status !== "True") return undefined;
      return secondsBetween(metadata.creationTimestamp, provisioned.lastTransitionTime);
    },
  );
  gauge(
    "ray_operator_cluster_head_ready",
    "1 if the head of the RayCluster is ready, otherwise 0.",
    running(({ conditions }) => (findCondition(conditions, "HeadPodReady")?.status === "True" ? 1 : 0)),
  );
  gauge(
    "ray_operator_cluster_workers_wanted",
    "Number of workers that the RayCluster requests.",
    running(({ desiredWorkerReplicas }) => desiredWorkerReplicas ?? 0),
  );
  gauge(
    "ray_operator_cluster_workers_ready",
    "Number of ready workers of the RayCluster.",
    running(({ readyWorkerReplicas }) => readyWorkerReplicas ?? 0),
  );
}

function jobGauges(gauge: Declare<RayJob>): void {
  gauge("kuberay_job_info", "1 for each RayJob.", () => ({ value: 1 }));
  gauge(
    "kuberay_job_deployment_status",
    "1, with the jobDeploymentStatus of the RayJob.",
    ({ status }) => ({ value: 1, labels: { deployment_status: status?.jobDeploymentStatus ?? "" } }),
    "deployment_status",
  );
  gauge(
    "kuberay_job_execution_duration_seconds",
    "Seconds from the start of a finished RayJob until its end.",
    ({ status }) => {
      const { jobDeploymentStatus, startTime, endTime, failed = 0 } = status ?? {};
      const duration = secondsBetween(startTime, endTime);
      // The last try of a failed job was no retry of itself.
      const retries = jobDeploymentStatus === "Failed" ? Math.max(failed - 1, 0) : failed;
      const labels = { job_deployment_status: jobDeploymentStatus ?? "", retry_count: String(retries) };
      return duration && { ...duration, labels };
    },
    "job_deployment_status",
    "retry_count",
  );
}

function serviceGauges(gauge: Declare<RayService>): void {
  gauge("kuberay_service_info", "1 for each RayService.", () => ({ value: 1 }));
  gauge(
    "kuberay_service_condition_ready",
    "1, with whether pods of the RayService serve requests.",
    ({ status }) => conditionSample(status, "Ready"),
    "condition",
  );
  gauge(
    "kuberay_service_condition_upgrade_in_progress",
    "1, with whether another cluster is to replace that of the RayService.",
    ({ status }) => conditionSample(status, "UpgradeInProgress"),
    "condition",
  );
  gauge(
    "ray_operator_service_endpoints",
    "Number of pods that serve requests of the RayService.",
    ({ spec, status }) =>
      status && !spec.suspend && spec.managedBy !== MULTIKUEUE ? { value: status.numServeEndpoints ?? 0 } : undefined,
  );
  gauge("ray_operator_service_degraded", "1 if the RayService is Degraded, otherwise 0.", ({ status }) => ({
    value: findCondition(status?.conditions, "Degraded")?.status === "True" ? 1 : 0,
  }));
}

function conditionSample(status: RayCluster["status"] | RayService["status"], type: string): Sample {
  return { value: 1, labels: { condition: String(findCondition(status?.conditions, type)?.status === "True") } };
}

function secondsBetween(from: string | undefined, to: string | undefined): Sample | undefined {
  return from && to ? { value: (Date.parse(to) - Date.parse(from)) / 1000 } : undefined;
}
