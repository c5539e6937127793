import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { hasPodFeatures, podFeatures } from "@konverge/operator-suite";
import { dashboardAddress, headPodFor, headServiceFor, servePort, workerPodsFor } from "./ray-children.ts";
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

test("resources and labels of a group go to Ray, and labels to the pods", () => {
  const template = { spec: { containers: [{ name: "ray-head", image: "rayproject/ray:2.53.0" }] } };
  const cluster = RayCluster.new({
    metadata: { name: "c", namespace: "ns" },
    spec: {
      headGroupSpec: {
        template,
        resources: { CPU: "0", memory: "1Gi", Custom: "2" },
        labels: { zone: "b", class: "a" },
      },
    },
  });
  const head = headPodFor(cluster)!;
  assert.match(
    head.spec!.containers[0]!.args![0]!,
    / --labels=class=a,zone=b --memory=1073741824 .*--num-cpus=0 --resources='\{"Custom":2\}'$/,
  );
  assert.deepEqual([head.metadata.labels?.["zone"], head.metadata.labels?.["class"]], ["b", "a"]);
});

test("the head's Service has the name, labels and ports that are given for it, and the usual ones", () => {
  const template = { spec: { containers: [{ name: "ray-head", image: "rayproject/ray:2.53.0" }] } };
  const headService = {
    metadata: { name: "custom", labels: { team: "a", "ray.io/cluster": "other" } },
    spec: { type: "LoadBalancer" as const, selector: { app: "other" }, ports: [{ name: "own", port: 12345 }] },
  };
  const cluster = RayCluster.new({
    metadata: { name: "c", namespace: "ns" },
    spec: {
      headServiceAnnotations: { note: "b" },
      headGroupSpec: { template, headService },
      workerGroupSpecs: [{ groupName: "small", replicas: 1, template }],
    },
  });
  const { metadata, spec } = headServiceFor(cluster);
  assert.deepEqual([metadata.name, metadata.labels?.["team"], metadata.annotations], ["custom", "a", { note: "b" }]);
  assert.deepEqual([spec?.type, spec?.clusterIP, spec?.selector?.["ray.io/cluster"]], ["LoadBalancer", undefined, "c"]);
  assert.deepEqual(
    spec?.ports?.map(({ port }) => port),
    [12345, 10001, 8265, 6379, 8080, 8000],
  );
  const [worker] = workerPodsFor(cluster, cluster.spec.workerGroupSpecs![0]!);
  const address = worker?.spec?.containers[0]?.env?.find(({ name }) => name === "RAY_ADDRESS")?.value;
  assert.equal(address, "custom.ns.svc.cluster.local:6379");
});

test("with tokens of Kubernetes, the pods of a cluster send that of their account", () => {
  const template = { spec: { containers: [{ name: "ray-head", image: "rayproject/ray:2.55.0" }] } };
  const cluster = RayCluster.new({
    metadata: { name: "c", namespace: "ns" },
    spec: {
      rayVersion: "2.55.0",
      authOptions: { mode: "token", enableK8sTokenAuth: true },
      headGroupSpec: { template },
    },
  });
  const { containers, volumes } = headPodFor(cluster)!.spec!;
  const variables = new Map(containers[0]!.env!.map((one) => [one.name, one.value]));
  assert.deepEqual([variables.get("RAY_AUTH_MODE"), variables.get("RAY_ENABLE_K8S_TOKEN_AUTH")], ["token", "true"]);
  assert.ok(!variables.has("RAY_AUTH_TOKEN"));
  assert.ok(volumes?.some(({ projected }) => projected?.sources?.[0]?.serviceAccountToken?.path === "token"));
  assert.ok(
    containers[0]!.volumeMounts?.some(({ mountPath }) => mountPath === "/var/run/secrets/ray.io/serviceaccount"),
  );
});

test("the name of a head's Service is not used in addresses if no Service can have it", () => {
  const template = { spec: { containers: [{ name: "ray-head", image: "rayproject/ray:2.53.0" }] } };
  const addressOf = (name: string) =>
    dashboardAddress(
      RayCluster.new({
        metadata: { name: "c", namespace: "ns" },
        spec: { headGroupSpec: { template, headService: { metadata: { name } } } },
      }),
    );
  assert.equal(addressOf("mine"), "mine.ns.svc.cluster.local:8265");
  for (const name of ["kubernetes.default.svc/x?", "user@host", "a.b", "A"]) {
    assert.equal(addressOf(name), "c-head-svc.ns.svc.cluster.local:8265");
  }
});
