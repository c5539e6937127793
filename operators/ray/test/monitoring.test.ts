import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { monitoringIsTrue, onEmbedded } from "@konverge/operator-suite";
import { rayOperator, rayOperatorWith } from "@konverge/ray-operator";
import { Pod } from "konverge/kinds";
import { parseYaml } from "konverge/schema";
import { sample } from "./scenarios.ts";
import { SimulatedServe } from "./simulated-serve.ts";

const MONITORING = new URL("../monitoring/", import.meta.url);
/**
 * What Ray itself exports on the port `metrics` of its pods, of its system metrics and those of Ray Serve:
 * https://docs.ray.io/en/releases-2.46.0/ray-observability/reference/system-metrics.html
 * https://docs.ray.io/en/releases-2.46.0/serve/monitoring.html
 */
const RAY = [
  "ray_node_cpu_utilization",
  "ray_node_mem_used",
  "ray_node_mem_total",
  "ray_object_store_memory",
  "ray_tasks",
  "ray_serve_num_http_requests_total",
  "ray_serve_num_http_error_requests_total",
  "ray_serve_http_request_latency_ms",
  "ray_serve_deployment_replica_healthy",
  "ray_serve_deployment_queued_queries",
];

monitoringIsTrue(rayOperator, MONITORING, RAY);

onEmbedded(
  "metrics follow the status of clusters and services, also after a restart of the operator",
  async (stage) => {
    const running = await stage.start(rayOperatorWith(new SimulatedServe().fetch));
    await stage.apply(sample("service"));
    const has = (line: RegExp) =>
      stage.until(`metrics have ${line.source}`, async () => line.test(await running.metrics()), 900_000);
    const labels = `namespace="${stage.namespace}",name="fruit",uid="[^"]+"`;
    const served = new RegExp(`^ray_operator_service_endpoints{${labels}} 2$`, "m");
    await has(served);
    await has(new RegExp(`^kuberay_service_condition_ready{${labels},condition="true"} 1$`, "m"));
    await has(/^ray_operator_cluster_workers_ready{.*name="fruit-[^"]*".*} 1$/m);
    await has(/^kuberay_cluster_info{.*owner_kind="RayService"} 1$/m);
    const provisioned = /^kuberay_cluster_provisioned_duration_seconds{.*$/m;
    const [before] = provisioned.exec(await running.metrics())!;
    const [{ spec: monitor }] = parseYaml(readFileSync(new URL("pod-monitor.yaml", MONITORING), "utf8")) as [
      { spec: { selector: { matchLabels: object }; podMetricsEndpoints: { port: string }[] } },
    ];
    for (const { metadata, spec } of await stage.list(Pod)) {
      assert.deepEqual({ ...metadata.labels, ...monitor.selector.matchLabels }, metadata.labels);
      assert.ok(spec?.containers[0]?.ports?.some(({ name }) => name === monitor.podMetricsEndpoints[0]?.port));
    }
    running.crash();
    await running.restart();
    await has(served);
    assert.equal(provisioned.exec(await running.metrics())?.[0], before);
  },
);
