import assert from "node:assert/strict";
import { test } from "node:test";
import { RayCluster, RayJob, RayMetrics, RayService } from "@konverge/ray-operator";
import { Metrics } from "konverge/observability";

const group = { template: { spec: { containers: [{ name: "ray", image: "rayproject/ray:2.46.0" }] } } };
const config = { headGroupSpec: group };
const metadata = (name: string) => ({ namespace: "ns", name, uid: `uid-${name}` });
const condition = (type: string, status: "True" | "False", lastTransitionTime = "2026-01-01T00:00:30Z") => ({
  ...{ type, status, reason: "Any", message: "", lastTransitionTime },
});

/** The values that are exported, without comments and uids. */
async function exported(fill: (metrics: RayMetrics) => void): Promise<string[]> {
  const { registry } = new Metrics({ process: false });
  fill(new RayMetrics(registry));
  const lines = (await registry.metrics()).split("\n").filter((line) => /^(kuberay|ray_operator)_/.test(line));
  return lines.map((line) => line.replace(/namespace="ns",name="([^"]*)",uid="uid-\1"/, "$1"));
}

test("a job is exported with its status and, when it has ended, its duration and retries", async () => {
  const job = (name: string, status: RayJob["status"]) => ({
    ...RayJob.new({ metadata: metadata(name), spec: { entrypoint: "true", rayClusterSpec: config } }),
    status,
  });
  const times = { startTime: "2026-01-01T00:00:00Z", endTime: "2026-01-01T00:01:30Z" };
  const jobs = [
    job("new", undefined),
    job("runs", { jobDeploymentStatus: "Running", startTime: times.startTime }),
    job("done", { jobDeploymentStatus: "Complete", failed: 1, ...times }),
    job("lost", { jobDeploymentStatus: "Failed", failed: 2, ...times }),
  ] as RayJob[];
  const lines = await exported((metrics) => {
    metrics.jobs = () => jobs;
  });
  assert.deepEqual(
    lines.filter((line) => !line.startsWith("kuberay_job_info")),
    [
      'kuberay_job_deployment_status{new,deployment_status=""} 1',
      'kuberay_job_deployment_status{runs,deployment_status="Running"} 1',
      'kuberay_job_deployment_status{done,deployment_status="Complete"} 1',
      'kuberay_job_deployment_status{lost,deployment_status="Failed"} 1',
      'kuberay_job_execution_duration_seconds{done,job_deployment_status="Complete",retry_count="1"} 90',
      'kuberay_job_execution_duration_seconds{lost,job_deployment_status="Failed",retry_count="1"} 90',
    ],
  );
});

test("a suspended cluster or service lacks nothing", async () => {
  const conditions = [condition("HeadPodReady", "False"), condition("RayClusterProvisioned", "True")];
  const cluster = (name: string, suspend: boolean) => ({
    ...RayCluster.new({
      metadata: { ...metadata(name), creationTimestamp: "2026-01-01T00:00:00Z" },
      spec: { ...config, suspend },
    }),
    status: { conditions, desiredWorkerReplicas: 2, readyWorkerReplicas: 1 },
  });
  const service = (name: string, suspend: boolean) => ({
    ...RayService.new({ metadata: metadata(name), spec: { rayClusterConfig: config, suspend } }),
    status: { numServeEndpoints: 0, conditions: [condition("Degraded", suspend ? "False" : "True")] },
  });
  const lines = await exported((metrics) => {
    metrics.clusters = () => [cluster("a", false), cluster("b", true)] as RayCluster[];
    metrics.services = () => [service("c", false), service("d", true)] as RayService[];
  });
  assert.deepEqual(
    lines.filter((line) => line.startsWith("ray_operator_")),
    [
      "ray_operator_cluster_head_ready{a} 0",
      "ray_operator_cluster_workers_wanted{a} 2",
      "ray_operator_cluster_workers_ready{a} 1",
      "ray_operator_service_endpoints{c} 0",
      "ray_operator_service_degraded{c} 1",
      "ray_operator_service_degraded{d} 0",
    ],
  );
  assert.ok(lines.includes("kuberay_cluster_provisioned_duration_seconds{a} 30"));
});
