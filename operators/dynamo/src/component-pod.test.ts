import assert from "node:assert/strict";
import { test } from "node:test";
import { hasPodFeatures, podFeatures } from "@konverge/operator-suite";
import { DynamoComponentDeployment } from "./component-deployment.ts";
import { podTemplate } from "./component-pod.ts";

const around = { image: "runtime:1", natsAddress: "", etcdAddress: "", ingressSuffix: "" };
const pod = (spec: object) => {
  const component = DynamoComponentDeployment.new({ metadata: { name: "c", namespace: "ns" }, spec });
  return podTemplate(component as DynamoComponentDeployment, around).spec!;
};
const main = (spec: object) => pod(spec).containers[0]!;

test("a worker is told to end at once, so that its runtime deregisters it; a frontend answers until nobody asks", () => {
  assert.equal(main({ componentType: "worker" }).lifecycle, undefined);
  assert.equal(pod({ componentType: "worker" }).terminationGracePeriodSeconds, 300);
  assert.equal(pod({ componentType: "worker" }).shareProcessNamespace, true, "SIGTERM ends it while it loads");
  assert.ok(main({ componentType: "frontend" }).lifecycle?.preStop?.exec);
  const lifecycle = { preStop: { exec: { command: ["true"] } } };
  const own = { componentType: "worker", extraPodSpec: { mainContainer: { lifecycle } } };
  assert.deepEqual(main(own).lifecycle, lifecycle);
});

test("a probe without a handler sets times of the operator's", () => {
  const extraPodSpec = { mainContainer: { startupProbe: { initialDelaySeconds: 180 } } };
  const { startupProbe } = main({ componentType: "worker", extraPodSpec });
  assert.deepEqual(
    [startupProbe?.httpGet?.path, startupProbe?.initialDelaySeconds, startupProbe?.failureThreshold],
    ["/live", 180, 720],
  );
});

test("probes of the main container, and those of the service, take the place of the operator's", () => {
  const probe = { tcpSocket: { port: 1 } };
  const extraPodSpec = { mainContainer: { startupProbe: probe, livenessProbe: probe } };
  const { startupProbe, livenessProbe, readinessProbe } = main({ componentType: "worker", extraPodSpec });
  assert.deepEqual([startupProbe, livenessProbe], [probe, probe]);
  assert.equal(readinessProbe?.httpGet?.path, "/health");
  const other = { exec: { command: ["true"] } };
  assert.deepEqual(main({ componentType: "worker", extraPodSpec, livenessProbe: other }).livenessProbe, other);
});

test("a worker serves the model that the variable MODEL names", () => {
  const envs = [{ name: "MODEL", value: "/models/chat" }];
  assert.deepEqual(main({ componentType: "worker", envs }).args, ["--model", "$(MODEL)"]);
  assert.equal(main({ componentType: "worker" }).args, undefined);
  const extraPodSpec = { mainContainer: { args: ["--model", "other"] } };
  assert.deepEqual(main({ componentType: "worker", envs, extraPodSpec }).args, ["--model", "other"]);
});

test("requests of a worker that ends continue on another one, by the flag or the variable of the image's version", () => {
  const argsOf = (image: string, extra: object = {}) => main({ componentType: "worker", image, ...extra }).args;
  const flag = ["--migration-limit=3"];
  for (const image of ["runtime:0.4.1", "host:5000/runtime:v0.9.0-rc1", "host/runtime:0.5.1@sha256:0123"]) {
    assert.deepEqual(argsOf(image), flag, image);
  }
  // Workers of these do not start with the flag, or might not.
  for (const image of ["runtime:1.0.0", "runtime:10.0.1", "runtime:latest", "runtime", "host:5000/runtime"]) {
    assert.equal(argsOf(image), undefined, image);
  }
  assert.deepEqual(argsOf("runtime:latest", { extraPodSpec: { mainContainer: { image: "runtime:0.5.1" } } }), flag);
  const command = ["python3", "-m", "my_engine"];
  assert.equal(argsOf("runtime:0.5.1", { extraPodSpec: { mainContainer: { command } } }), undefined);
  const prefill = { componentType: "worker", serviceName: "PrefillWorker", image: "runtime:0.5.1" };
  assert.deepEqual(main(prefill).args, ["--is-prefill-worker"]);
  const limitOf = (spec: object) => main(spec).env?.find(({ name }) => name === "DYN_MIGRATION_LIMIT")?.value;
  assert.equal(limitOf({ componentType: "frontend" }), "3");
  assert.equal(limitOf({ componentType: "frontend", envs: [{ name: "DYN_MIGRATION_LIMIT", value: "0" }] }), "0");
});

test("a worker is healthy when its endpoint is, which the runtime does not report by itself", () => {
  const healthOf = (componentType: string) =>
    main({ componentType }).env?.find(({ name }) => name === "DYN_SYSTEM_USE_ENDPOINT_HEALTH_STATUS")?.value;
  assert.equal(healthOf("worker"), '["generate"]');
  assert.equal(healthOf("frontend"), undefined);
});

test("extraPodSpec reaches the pod in full, mainContainer the container", () => {
  const { container, pod: fields, sidecar } = podFeatures;
  const extraPodSpec = { ...fields, mainContainer: container, containers: [sidecar] };
  hasPodFeatures(pod({ componentType: "worker", extraPodSpec }), "main");
});
