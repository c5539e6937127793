import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { Scenario, TestEnvironment } from "@konverge/operator-suite";
import { RayCluster, rayOperator } from "@konverge/ray-operator";
import type { AnyObject } from "konverge";
import { Node, Pod, Service } from "konverge/kinds";

export const sample = (name: string) => readFileSync(new URL(`../samples/${name}.yaml`, import.meta.url), "utf8");

const ready = (stage: TestEnvironment, name: string) =>
  stage.until(`${name} is ready`, async () => (await stage.condition(RayCluster, name, "Ready")) === "True AsExpected");
const pods = async (stage: TestEnvironment) => (await stage.list(Pod)).map(({ metadata }) => metadata.name).sort();

/** A head, its Service and workers, with upstream's names, labels, commands and variables. */
export const cluster: Scenario = async (stage) => {
  await stage.start(rayOperator);
  await stage.apply(sample("cluster"));
  await ready(stage, "science");
  assert.deepEqual(await pods(stage), ["science-head-0", "science-small-worker-0", "science-small-worker-1"]);
  const head = await stage.get(Pod, "science-head-0");
  const [ray] = head.spec!.containers;
  assert.match(ray!.args![0]!, /^ulimit -n 65536; ray start --head --block .*--memory=2147483648 .*--num-cpus=1$/);
  const worker = await stage.get(Pod, "science-small-worker-1");
  const env = Object.fromEntries(worker.spec!.containers[0]!.env!.map(({ name, value }) => [name, value]));
  const address = `science-head-svc.${stage.namespace}.svc.cluster.local`;
  assert.equal(env["RAY_ADDRESS"], `${address}:6379`);
  assert.equal(env["FQ_RAY_IP"], address);
  assert.equal(worker.metadata.labels?.["ray.io/group"], "small");
  assert.equal(worker.spec!.initContainers![0]!.name, "wait-gcs-ready");
  const service = await stage.get(Service, "science-head-svc");
  assert.deepEqual(
    service.spec?.ports?.map(({ port }) => port),
    [10001, 8265, 6379, 8080, 8000],
  );
  const { status } = await stage.get(RayCluster, "science");
  assert.equal(status?.state, "ready");
  assert.equal(status?.desiredWorkerReplicas, 2);
  assert.equal(status?.availableWorkerReplicas, 2);
  assert.equal(String(status?.desiredCPU), "3");
  assert.equal(await stage.condition(RayCluster, "science", "HeadPodReady"), "True HeadPodRunningAndReady");
  await stage.settled();
};

/** Repair, scaling, deletion by name, suspension, the end. */
export const lives: Scenario = async (stage) => {
  await stage.start(rayOperator);
  await stage.apply(sample("cluster"));
  await ready(stage, "science");
  const key = `${stage.namespace}/science`;
  await stage.client.delete(Pod, `${stage.namespace}/science-small-worker-0`);
  await stage.until("three pods are there again", async () => (await pods(stage)).length === 3);
  await ready(stage, "science");

  const group = (field: string) => `/spec/workerGroupSpecs/0/${field}`;
  await stage.client.patch(RayCluster, key, { json: [{ op: "replace", path: group("replicas"), value: 9 }] });
  await stage.until("no more than the most", async () => (await pods(stage)).length === 6);
  await stage.client.patch(RayCluster, key, {
    json: [
      { op: "replace", path: group("replicas"), value: 2 },
      { op: "add", path: group("scaleStrategy"), value: { workersToDelete: ["science-small-worker-0"] } },
    ],
  });
  const left = ["science-head-0", "science-small-worker-1", "science-small-worker-2"];
  await stage.until("the named one is gone", async () => (await pods(stage)).join() === left.join());

  await stage.client.patch(RayCluster, key, { merge: { spec: { suspend: true } } });
  await stage.until("it is suspended", async () => {
    const { status } = await stage.get(RayCluster, "science");
    return status?.state === "suspended" && (await pods(stage)).length === 0;
  });
  await stage.client.patch(RayCluster, key, { merge: { spec: { suspend: false } } });
  await ready(stage, "science");
  await stage.client.delete(RayCluster, key);
  await stage.until("nothing is left", async () => (await pods(stage)).length === 0);
};

/** A pod that has ended is made anew; another image replaces pods. */
export const replaced: Scenario = async (stage) => {
  await stage.start(rayOperator);
  await stage.apply(sample("cluster"));
  await ready(stage, "science");
  const before = await stage.get(Pod, "science-small-worker-0");
  await stage.client.patchStatus(Pod, `${stage.namespace}/science-small-worker-0`, {
    merge: { status: { phase: "Failed" } },
  });
  await stage.until("the ended pod is another one", async () => {
    const all = await stage.list(Pod);
    return all.length === 3 && all.every(({ metadata }) => metadata.uid !== before.metadata.uid);
  });
  await ready(stage, "science");
  const head = (await stage.get(Pod, "science-head-0")).metadata.uid;
  await stage.apply(
    sample("cluster").replaceAll("ray:2.46.0", "ray:2.47.0").replace("rayVersion: 2.46.0", "rayVersion: 2.47.0"),
  );
  await stage.until("all pods run the new image", async () => {
    const images = (await stage.list(Pod)).map(({ spec }) => spec!.containers[0]!.image);
    // One at a time, the head last.
    const old = images.filter((image) => image === "rayproject/ray:2.46.0").length;
    const headNow = (await stage.find(Pod, "science-head-0"))?.metadata.uid;
    assert.ok(old === 0 || headNow === head, "the head was replaced before a worker");
    return images.length === 3 && images.every((image) => image === "rayproject/ray:2.47.0");
  });
  await ready(stage, "science");
};

/** The nodes of a worker and of the head fall silent: others take their places, though the pods never end. */
export const lostNode: Scenario = async (stage) => {
  await stage.start(rayOperator);
  await stage.apply(sample("cluster"));
  await ready(stage, "science");
  const lost = await stage.list(Pod);
  const annotations = { "sim.konverge.dev/kubelet": "stopped" };
  for (const name of new Set(lost.map(({ spec }) => spec!.nodeName!))) {
    await stage.client.patch(Node, name, { merge: { metadata: { annotations } } as never });
  }
  const others = async () =>
    (await stage.list(Pod)).filter(({ metadata }) => !lost.some((one) => one.metadata.uid === metadata.uid));
  await stage.until("others are there", async () => (await others()).length === 3, 900_000);
  const names = (await others()).map(({ metadata }) => metadata.name).sort();
  assert.deepEqual(names, ["science-head-1", "science-small-worker-2", "science-small-worker-3"]);
};

/** A worker that is too large for all nodes, and then is not. */
export const recovers: Scenario = async (stage) => {
  await stage.start(rayOperator);
  await stage.apply(sample("cluster").replace("memory: 4Gi", "memory: 900Ti"));
  await stage.until("it is told that there is no room", async () => {
    const { status } = await stage.get(RayCluster, "science");
    return status?.conditions?.some(({ message }) => /Insufficient memory/.test(message)) ?? false;
  });
  await stage.apply(sample("cluster"));
  await ready(stage, "science");
};

/** Which node a pod lands on, and so its address, is the scheduler's choice. */
export function withoutAddresses(object: AnyObject): AnyObject {
  const status = (object["status"] ?? {}) as Record<string, Record<string, unknown> | undefined>;
  if (object.kind === "RayCluster") return { ...object, status: withoutHead(status) };
  if (object.kind !== "RayService") return object;
  const parts = ["activeServiceStatus", "pendingServiceStatus"].flatMap((name) => {
    const part = status[name];
    return part ? [[name, { ...part, rayClusterStatus: withoutHead(part["rayClusterStatus"] ?? {}) }]] : [];
  });
  return { ...object, status: { ...status, ...Object.fromEntries(parts) } };
}

function withoutHead(status: object) {
  const { head: _, ...rest } = status as { head?: unknown };
  return rest;
}

export const badInput: Scenario = async (stage) => {
  await stage.start(rayOperator);
  const refused = (change: (text: string) => string, message: RegExp) =>
    assert.rejects(stage.apply(change(sample("cluster"))), message);
  await refused((text) => text.replace("minReplicas: 1", "minReplicas: 7"), /is more than maxReplicas/);
  await refused((text) => text.replace(/ +image: .*\n/, ""), /an image that contains Ray/);
  await refused((text) => text.replace("replicas: 2", "replicas: two"), /replicas/);
  await stage.apply(sample("cluster").replace("memory: 4Gi", "memory: 900Ti"));
  await stage.until("it is told that there is no room", async () => {
    const { status } = await stage.get(RayCluster, "science");
    const told = status?.conditions?.find(({ type }) => type === "Ready");
    return told?.status === "False" && /Insufficient memory/.test(told.message);
  });
  await stage.settled();
  const writes = stage.writes();
  await stage.settled();
  assert.equal(stage.writes(), writes);
  await stage.apply(sample("cluster"));
  await ready(stage, "science");
};
