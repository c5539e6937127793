import assert from "node:assert/strict";
import { ModelDeployment } from "@konverge/llm-operator";
import { onEmbedded, type Scenario } from "@konverge/operator-suite";
import { APIService, HorizontalPodAutoscaler, Pod, Service, StatefulSet } from "konverge/kinds";
import { deafOperator, deployment, untilDeployed } from "./model-deployment-scenarios.ts";

/** An adapter of the custom metrics API, as Prometheus' is: it tells one value of each pod that there is. */
class Adapter {
  readonly asked = new Set<string>();
  value = "0";
  pods: readonly string[] = [];
  now = 0;

  readonly answer = async ({ path }: { path: string }) => {
    const { pathname } = new URL(path, "http://localhost");
    const [, , group = "", version = "", , namespace = "", , , metric = ""] = pathname
      .split("/")
      .map(decodeURIComponent);
    const apiVersion = `${group}/${version}`;
    if (namespace !== "") this.asked.add(metric);
    const timestamp = `${new Date(this.now).toISOString().slice(0, 19)}Z`;
    const body =
      namespace === ""
        ? { kind: "APIResourceList", apiVersion: "v1", groupVersion: apiVersion, resources: [] }
        : {
            kind: "MetricValueList",
            apiVersion,
            metadata: {},
            items: this.pods.map((name) => ({
              describedObject: { kind: "Pod", apiVersion: "v1", namespace, name },
              metric: { name: metric },
              timestamp,
              value: this.value,
            })),
          };
    return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  };
}

const adapter = new Adapter();

/** What waits at the servers moves the size within the bounds that the operator sets, and no further. */
const follows: Scenario = async (stage) => {
  await stage.client.create(Service, {
    metadata: { name: "adapter", namespace: stage.namespace },
    spec: { type: "ExternalName", externalName: "adapter.example" },
  });
  await stage.client.create(APIService, {
    metadata: { name: "v1beta2.custom.metrics.k8s.io" },
    spec: {
      group: "custom.metrics.k8s.io",
      version: "v1beta2",
      groupPriorityMinimum: 100,
      versionPriority: 100,
      insecureSkipTLSVerify: true,
      service: { namespace: stage.namespace, name: "adapter", port: 443 },
    },
  });
  await stage.start(deafOperator);
  await stage.apply(deployment("chat", { model: "m", replicas: 4, gpuCount: 0 }));
  await untilDeployed(stage, "chat", 4);
  const size = async () => (await stage.get(StatefulSet, "chat")).spec?.replicas;
  const { minReplicas, maxReplicas } = (await stage.get(HorizontalPodAutoscaler, "chat")).spec!;
  assert.deepEqual([minReplicas, maxReplicas], [4, 6]);
  const told = async (value: string, ms: number) => {
    adapter.value = value;
    for (let passed = 0; passed < ms; passed += 15_000) {
      adapter.now = stage.clock.now();
      adapter.pods = (await stage.list(Pod, "app=modeldeployment")).map(({ metadata }) => metadata.name);
      await stage.advance(15_000);
      const now = await size();
      assert.ok(now! >= minReplicas! && now! <= maxReplicas, `${now} is out of bounds`);
    }
  };
  await told("0", 60_000);
  assert.equal(await size(), 4, "nobody waits");
  assert.match((await stage.condition(HorizontalPodAutoscaler, "chat", "ScalingActive")) ?? "", /^True/);
  assert.deepEqual([...adapter.asked], ["vllm:num_requests_waiting"]);
  await told("50", 120_000);
  assert.equal(await size(), 6, "many wait: as many as are allowed");
  await untilDeployed(stage, "chat", 6);
  assert.equal(
    (await stage.get(ModelDeployment, "chat")).status?.decisions?.length,
    1,
    "the operator has decided once",
  );
  await told("0", 8 * 60_000);
  assert.equal(await size(), 4, "nobody waits any more");
};

onEmbedded("a ModelDeployment's autoscaler follows what waits at the servers", follows, { extension: adapter.answer });
