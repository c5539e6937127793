import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { hasPodFeatures, podFeatures } from "@konverge/operator-suite";
import { headPodFor, headServiceFor, servePort, workerPodsFor } from "./ray-children.ts";
import { RayCluster } from "./ray-cluster.ts";

test("the container that waits for the head may do, knows and sees what the worker does", () => {
  const securityContext = { runAsUser: 1234, readOnlyRootFilesystem: true };
  const ray = {
    name: "ray-worker",
    image: "rayproject/ray:2.9.0",
    securityContext,
    env: [{ name: "RAY_TLS_CA_CERT", value: "/tls/ca.crt" }],
    volumeMounts: [{ name: "tls", mountPath: "/tls" }],
  };
  const template = { spec: { containers: [ray], volumes: [{ name: "tls", secret: { secretName: "tls" } }] } };
  const cluster = RayCluster.new({
    metadata: { name: "c", namespace: "team" },
    spec: {
      headGroupSpec: { template },
      workerGroupSpecs: [{ groupName: "small", replicas: 1, template }],
    },
  });
  const [pod] = workerPodsFor(cluster, cluster.spec.workerGroupSpecs![0]!);
  const wait = pod?.spec?.initContainers?.find(({ name }) => name === "wait-gcs-ready");
  assert.deepEqual([wait?.securityContext?.runAsUser, wait?.securityContext?.readOnlyRootFilesystem], [1234, true]);
  assert.deepEqual(wait?.volumeMounts?.[0], { name: "tls", mountPath: "/tls" });
  assert.deepEqual(wait?.env?.map(({ name }) => name).slice(0, 2), ["RAY_TLS_CA_CERT", "FQ_RAY_IP"]);
});

test("the autoscaler may do, knows and sees what the head does", () => {
  const ray = {
    name: "ray-head",
    image: "rayproject/ray:2.9.0",
    securityContext: { runAsUser: 1234 },
    env: [{ name: "RAY_TLS_CA_CERT", value: "/tls/ca.crt" }],
    volumeMounts: [{ name: "tls", mountPath: "/tls" }],
  };
  const template = { spec: { containers: [ray], volumes: [{ name: "tls", secret: { secretName: "tls" } }] } };
  const cluster = RayCluster.new({
    metadata: { name: "c", namespace: "team" },
    spec: { enableInTreeAutoscaling: true, headGroupSpec: { template } },
  });
  const autoscaler = headPodFor(cluster)?.spec?.containers.find(({ name }) => name === "autoscaler");
  assert.equal(autoscaler?.securityContext?.runAsUser, 1234);
  assert.ok(autoscaler?.env?.some(({ name }) => name === "RAY_TLS_CA_CERT"));
  assert.deepEqual(
    autoscaler?.volumeMounts?.map(({ mountPath }) => mountPath),
    ["/tls", "/tmp/ray"],
  );
});

test("templates reach the pods of the head and of workers in full", () => {
  const { container, pod, sidecar } = podFeatures;
  const ray = { name: "ray", image: "rayproject/ray:2.9.0", ...container };
  const template = { spec: { ...pod, containers: [ray, sidecar] } };
  const cluster = RayCluster.new({
    metadata: { name: "c", namespace: "team" },
    spec: { headGroupSpec: { template }, workerGroupSpecs: [{ groupName: "small", replicas: 1, template }] },
  });
  hasPodFeatures(headPodFor(cluster)?.spec, "ray");
  hasPodFeatures(workerPodsFor(cluster, cluster.spec.workerGroupSpecs![0]!)[0]?.spec, "ray");
});

test("the password of Redis is one parameter, whatever is in it", () => {
  const template = { spec: { containers: [{ name: "ray-head", image: "rayproject/ray:2.46.0" }] } };
  const cluster = RayCluster.new({
    metadata: { name: "c", namespace: "team" },
    spec: {
      gcsFaultToleranceOptions: { redisAddress: "redis:6379", redisPassword: { value: "secret" } },
      headGroupSpec: { template },
    },
  });
  const [command = "", ...options] = headPodFor(cluster)?.spec?.containers[0]?.command ?? [];
  const args = headPodFor(cluster)?.spec?.containers[0]?.args ?? [];
  const printed = args.map((line) => line.replace("ray start", "printf '%s\\n'"));
  const REDIS_PASSWORD = "a b * 'c";
  const words = execFileSync(command, [...options, ...printed], {
    env: { REDIS_PASSWORD },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  }).split("\n");
  assert.ok(words.includes(`--redis-password=${REDIS_PASSWORD}`), words.join("\n"));
});

test("a port and a mount that the head's container has are not added under another name", () => {
  const ray = {
    name: "ray-head",
    image: "rayproject/ray:2.9.0",
    ports: [
      { name: "gcs", containerPort: 6379 },
      { name: "http", containerPort: 8000 },
    ],
    volumeMounts: [{ name: "dshm", mountPath: "/dev/shm" }],
  };
  const template = { spec: { containers: [ray], volumes: [{ name: "dshm", emptyDir: {} }] } };
  const cluster = RayCluster.new({ metadata: { name: "c", namespace: "ns" }, spec: { headGroupSpec: { template } } });
  const ports = headServiceFor(cluster).spec!.ports!;
  assert.deepEqual(
    ports.map(({ name, port }) => `${name} ${port}`),
    ["client 10001", "dashboard 8265", "gcs 6379", "http 8000", "metrics 8080"],
  );
  assert.equal(servePort(cluster), 8000);
  const mounts = headPodFor(cluster)!.spec!.containers[0]!.volumeMounts!;
  assert.deepEqual(mounts, [{ name: "dshm", mountPath: "/dev/shm" }]);
});
